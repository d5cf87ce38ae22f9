//! What stands beside every figure: the disk's own sync rate, the machine, the versions.

use std::{fs::File, io::Write, path::Path, time::Instant};

/// How many times a second the disk under `folder` takes 4 KiB and syncs it.
pub fn syncs_per_second(folder: &Path) -> f64 {
    let mut file = File::create(folder.join("control")).expect("a file beside the data");
    let (block, start) = ([7u8; 4096], Instant::now());
    let mut syncs = 0u32;
    while start.elapsed().as_millis() < 1_000 {
        file.write_all(&block).expect("space on the disk");
        file.sync_data().expect("a disk that syncs");
        syncs += 1;
    }
    f64::from(syncs) / start.elapsed().as_secs_f64()
}

/// The machine in one line.
pub fn machine() -> String {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = read("/proc/cpuinfo")
        .lines()
        .find_map(|line| {
            line.strip_prefix("model name")?.split(':').nth(1).map(str::trim).map(str::to_owned)
        })
        .unwrap_or_default();
    let memory_kib: u64 = read("/proc/meminfo")
        .lines()
        .find_map(|line| {
            line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.trim().parse().ok()
        })
        .unwrap_or_default();
    format!("{cores} cores ({model}), {} GiB", memory_kib.div_ceil(1024 * 1024))
}

/// The middle one of several runs.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The value below which `share` of the sorted ones lie.
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index within a list that fits in memory"
    )]
    let index = ((sorted.len() as f64 - 1.0) * share).round() as usize;
    sorted.get(index).copied().unwrap_or_default()
}
