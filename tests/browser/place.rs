//! A rider's page that tells where its device is.

use dispatch_desk::domain::id::RiderId;
use serde_json::json;

use crate::{
    driver::{Driver, with_browsers},
    harness::{Site, rider},
};

async fn shares(driver: &Driver) {
    let site = Site::open().await;
    let window = driver.window("rider", (360, 640)).await;
    let link = site.link(&rider(1)).await;
    window.go(&format!("{}/taste?lang=en&back={link}", site.origin)).await;
    window.find("form[action*='enter/'] button").await.click().await.unwrap();
    window.find(".bar form button").await;
    // Nobody is asked for a position before it was wanted.
    window.sees("#place [role=status]", "Your position is not shared.").await;
    let grant = json!({ "origin": site.origin, "permissions": ["geolocation"] });
    window.cdp("Browser.grantPermissions", grant).await;
    let at = json!({ "latitude": 31.26, "longitude": 121.45, "accuracy": 12 });
    window.cdp("Emulation.setGeolocationOverride", at).await;
    window.find("#place button").await.click().await.unwrap();
    window.sees("#place [role=status]", "The desk had your position at").await;
    window.sees("#place button", "Stop sharing").await;
    let locator = site.desk.executor.positions().locator().clone();
    let fix = locator.of(RiderId(1)).await.unwrap().expect("it is known");
    assert!((fix.place.lat - 31.26).abs() < 1e-9 && fix.accuracy_m == Some(12.0), "{fix:?}");
    // A page that was opened anew goes on by itself; one that was told to stop does not.
    window.go(&format!("{}/rider", site.origin)).await;
    window.sees("#place button", "Stop sharing").await;
    window.sees("#place [role=status]", "The desk had your position at").await;
    // The telephone is handed on: whoever comes next is not shared without having said so.
    let enter = async |number: i64| {
        let link = site.link(&rider(number)).await;
        window.go(&format!("{}/taste?lang=en&back={link}", site.origin)).await;
        window.find("form[action*='enter/'] button").await.click().await.unwrap();
        window.find(".bar form button").await;
    };
    enter(2).await;
    window.sees("#place [role=status]", "Your position is not shared.").await;
    window.sees("#place button", "Share my position").await;
    assert!(locator.of(RiderId(2)).await.unwrap().is_none(), "nothing was sent");
    enter(1).await;
    window.sees("#place button", "Stop sharing").await;
    window.find("#place button").await.click().await.unwrap();
    window.sees("#place [role=status]", "Your position is not shared.").await;
    window.go(&format!("{}/rider", site.origin)).await;
    window.sees("#place button", "Share my position").await;
    window.is_clean().await;
    // A browser that gives nothing away says so.
    let deny = json!({ "permission": { "name": "geolocation" }, "setting": "denied", "origin": site.origin });
    window.cdp("Browser.setPermission", deny).await;
    window.find("#place button").await.click().await.unwrap();
    window.sees("#place [role=status]", "This browser does not give your position away.").await;
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rider_shares_the_position_and_stops() {
    with_browsers("place", async |driver| shares(driver).await).await;
}
