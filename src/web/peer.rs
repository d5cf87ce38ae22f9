//! Who is at the other end: the address of the connection, or, behind proxies that are trusted by configuration, the
//! address that they name.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
    sync::Arc,
};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, request::Parts},
};

/// The address that a request comes from, as an extractor: whoever counts tries counts by [`Peer::group`]. Headers of
/// a client alone never change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// What counts as one peer: an IPv4 address, or the /64 of an IPv6 address, since whoever has one address of such
    /// a network has all of them.
    pub fn group(self) -> IpAddr {
        match self.0.to_canonical() {
            IpAddr::V4(v4) => IpAddr::V4(v4),
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        // Without a connection, as in tests of the routes alone, it is nobody in particular.
        let nobody = Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        Ok(parts.extensions.get::<Self>().copied().unwrap_or(nobody))
    }
}

/// A network: `10.0.0.0/8`, `fd00::/8`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    bits: u8,
}

impl Network {
    /// Whether `address` lies in it. IPv4 addresses that are written as IPv6 count as what they are.
    pub fn holds(&self, address: IpAddr) -> bool {
        match (self.first, address.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let drop = u32::from(32 - self.bits);
                (first.to_bits() ^ address.to_bits()).checked_shr(drop).unwrap_or(0) == 0
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let drop = u32::from(128 - self.bits);
                (first.to_bits() ^ address.to_bits()).checked_shr(drop).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no network: write 10.0.0.0/8, fd00::/8 or an address");
        let (address, bits) = text.split_once('/').unzip();
        let first: IpAddr = address.unwrap_or(text).parse().map_err(|_| wrong())?;
        let most: u8 = if first.is_ipv4() { 32 } else { 128 };
        // Only digits: "+8" is no number of bits.
        let plain = |bits: &&str| bits.bytes().all(|byte| byte.is_ascii_digit());
        let bits = match bits {
            None => most,
            Some(bits) => {
                Some(bits).filter(plain).and_then(|bits| bits.parse().ok()).ok_or_else(wrong)?
            }
        };
        if bits > most {
            return Err(wrong());
        }
        match first.to_canonical() {
            // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
            v4 @ IpAddr::V4(_) if first.is_ipv6() => {
                let bits = bits.checked_sub(96).ok_or_else(wrong)?;
                Ok(Self { first: v4, bits })
            }
            first => Ok(Self { first, bits }),
        }
    }
}

/// Several networks. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Networks(Arc<[Network]>);

impl Networks {
    /// Reads a list of networks.
    ///
    /// # Errors
    /// Which of them is none.
    pub fn parse<'a>(list: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let given = list.into_iter().map(str::trim).filter(|network| !network.is_empty());
        given.map(str::parse).collect::<Result<Vec<_>, _>>().map(|all| Self(all.into()))
    }

    /// The addresses of this machine alone.
    pub fn loopback() -> Self {
        let v4 = Network { first: IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), bits: 8 };
        let v6 = Network { first: IpAddr::V6(Ipv6Addr::LOCALHOST), bits: 128 };
        Self([v4, v6].into())
    }

    /// Whether one of them holds `address`.
    pub fn hold(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.holds(address))
    }

    /// Whose request it is that came over a connection from `socket`, these networks being trusted proxies: the
    /// right-most address in `X-Forwarded-For` that is none of them. Each proxy adds whom it was asked by at the right,
    /// so what stands further to the left is what a client made up.
    pub fn peer(&self, socket: IpAddr, headers: &HeaderMap) -> Peer {
        let mut seen = socket.to_canonical();
        if !self.hold(seen) {
            return Peer(seen);
        }
        let lines = headers.get_all("x-forwarded-for").iter().rev();
        for line in lines {
            for hop in line.as_bytes().rsplit(|byte| *byte == b',') {
                let Some(hop) = std::str::from_utf8(hop).ok().and_then(address) else {
                    // Not an address: nothing to the left of it can be believed.
                    return Peer(seen);
                };
                seen = hop;
                if !self.hold(seen) {
                    return Peer(seen);
                }
            }
        }
        Peer(seen)
    }
}

/// The address of a hop, with or without a port.
fn address(hop: &str) -> Option<IpAddr> {
    let hop = hop.trim();
    let bare = hop.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(hop);
    let address = bare.parse::<IpAddr>().ok();
    let address = address.or_else(|| hop.parse::<std::net::SocketAddr>().ok().map(|at| at.ip()));
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(list: &str) -> Networks {
        Networks::parse(list.split(',')).unwrap_or_default()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
            ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
            ("10.0.0.0/8", "::ffff:10.1.2.3", "::ffff:11.1.2.3"),
            ("::ffff:10.0.0.0/104", "10.9.9.9", "11.9.9.9"),
            ("0.0.0.0/0", "203.0.113.9", "2001:db8::1"),
            ("fd00::/8", "fd12:3456::1", "fe80::1"),
            ("2001:db8::/64", "2001:db8::ffff:1", "2001:db8:0:1::1"),
            ("::/0", "2001:db8::1", "203.0.113.9"),
        ] {
            assert!(networks(network).hold(ip(inside)), "{network} {inside}");
            assert!(!networks(network).hold(ip(outside)), "{network} {outside}");
        }
        for bad in ["10.0.0.0/33", "::/129", "10.0.0/8", "x", "10.0.0.0/+8", "10.0.0.0/", "/8"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
        assert!(Networks::parse(["10.0.0.0/8", "nonsense"]).is_err());
    }

    #[test]
    fn the_peer_is_the_first_that_no_trusted_proxy_vouches_for() {
        let trusted = networks("10.0.0.0/8,fd00::/8");
        let peer = |socket: &str, lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", axum::http::HeaderValue::from_static(line));
            }
            trusted.peer(ip(socket), &headers).0.to_string()
        };
        // Whoever comes directly is who they are, whatever they say.
        assert_eq!(peer("203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        assert_eq!(peer("::ffff:203.0.113.9", &["10.0.0.1"]), "203.0.113.9");
        assert_eq!(peer("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(peer("10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        // What a client wrote stands to the left of what the proxy added.
        assert_eq!(peer("10.0.0.1", &["1.2.3.4, 198.51.100.1"]), "198.51.100.1");
        assert_eq!(peer("10.0.0.1", &["1.2.3.4", "198.51.100.1, 10.0.0.2"]), "198.51.100.1");
        assert_eq!(peer("10.0.0.1", &["10.0.0.3, 10.0.0.2"]), "10.0.0.3");
        assert_eq!(peer("fd00::1", &["[2001:db8::7]:4711"]), "2001:db8::7");
        assert_eq!(peer("10.0.0.1", &["198.51.100.1:4711"]), "198.51.100.1");
        assert_eq!(peer("10.0.0.1", &["::ffff:198.51.100.1"]), "198.51.100.1");
        // What is no address ends the chain at the proxy that wrote it down.
        assert_eq!(peer("10.0.0.1", &["198.51.100.1, unknown"]), "10.0.0.1");
        assert_eq!(peer("10.0.0.1", &["198.51.100.1, unknown, 10.0.0.2"]), "10.0.0.2");
        assert_eq!(peer("10.0.0.1", &[""]), "10.0.0.1");
    }

    #[test]
    fn one_peer_is_an_address_or_the_network_that_a_line_is_given() {
        let group = |text: &str| Peer(ip(text)).group().to_string();
        assert_eq!(group("203.0.113.9"), "203.0.113.9");
        assert_eq!(group("::ffff:203.0.113.9"), "203.0.113.9");
        assert_eq!(group("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(group("2001:db8:1:2:ffff::"), "2001:db8:1:2::");
    }
}
