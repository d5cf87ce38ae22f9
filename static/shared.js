// One stream for all pages of a browser that follow the same thing. Browsers open six connections to a server and no more:
// with a stream for each page the seventh would hang, and it would be the one with the alarm.
import { Feed } from './feed.js';

const feeds = new Map(); // By the address of the stream.

function leave(port) {
  for (const [stream, { feed, ports }] of feeds) {
    if (ports.delete(port) && !ports.size) {
      feed.end();
      feeds.delete(stream);
    }
  }
}

function join(port, { stream, after }) {
  leave(port);
  let shared = feeds.get(stream);
  if (!shared) {
    const ports = new Set();
    const tell = (name, data) => {
      for (const each of ports) each.postMessage({ name, data });
    };
    shared = { feed: new Feed(stream, after, tell), ports };
    feeds.set(stream, shared);
  }
  shared.ports.add(port);
  // Whoever comes later is told how far it has come: what happened before is on their page, or they fetch it anew.
  const { hello, head } = shared.feed;
  if (hello) port.postMessage({ name: 'hello', data: { ...hello, head } });
}

self.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data.join) join(port, data.join);
    if (data.leave) leave(port);
    if (data.soon) feeds.get(data.soon)?.feed.soon();
  };
};
