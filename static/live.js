// Follows the numbered stream of a page, and fetches the page anew when something on it has changed. The stream only says
// that there is something; what is shown is what the server has sent, with its number, and never an older one.
import { swap } from './swap.js';
import { Follow } from './follow.js';
import { Place } from './place.js';
import { Sounds } from './sound.js';

const SILENT_MS = 20000; // A heartbeat comes every 15 seconds.
const POLL_WHEN_AWAY_MS = 10000;
const HIDDEN_MS = 300000;

const box = document.getElementById('live');
const { stream, kind, task } = box.dataset;
const state = box.querySelector('.state');
const age = box.querySelector('.age');
const sounds = new Sounds(box.querySelector('[data-on]'));
new Place(document.getElementById('place'));
const pollMs = Number(box.dataset.poll) * 1000;

let shown = Number(box.dataset.number); // The number of what is shown.
let epoch = ''; // Which log the numbers are of.
let open = false; // Whether there is a stream.
let left = false; // Nobody has looked at the page for long, and it follows nothing.
let heard = 0; // When the stream last said anything.
let current = performance.now(); // When what is shown was last known to be all there is.
let away = 0; // Since when there is no stream.
let hiddenAt = 0;
let fetching = false;
let wanted = false;

function show() {
  const now = performance.now();
  let word = 'gone';
  if (open) word = now - heard > SILENT_MS || wanted ? 'stale' : 'live';
  if (word === 'live' && !fetching) current = Math.max(current, heard);
  if (box.dataset.state !== word) {
    box.dataset.state = word;
    state.textContent = box.dataset[`word${word[0].toUpperCase()}${word.slice(1)}`];
  }
  age.textContent = box.dataset.age.replace('%', String(Math.round((now - current) / 1000)));
  box.hidden = false;
}

function address() {
  const url = new URL(location.href);
  if (kind === 'rider') {
    const cards = [...document.querySelectorAll('article.grab[id]')].map((card) => card.id.slice(1));
    if (cards.length) url.searchParams.set('seen', cards.join('.'));
  }
  url.hash = '';
  return url;
}

async function refresh() {
  wanted = true;
  if (fetching) return;
  fetching = true;
  while (wanted) {
    wanted = false;
    const asked = performance.now();
    try {
      const answer = await fetch(address(), {
        headers: { accept: 'text/html', 'x-by-itself': '1' }, cache: 'no-store', signal: AbortSignal.timeout(15000),
      });
      if (answer.redirected || [401, 403, 404].includes(answer.status)) {
        location.reload(); // Signed out, or gone: the server says so on a page of its own.
        return;
      }
      if (!answer.ok) throw new Error(String(answer.status));
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const number = Number(next.getElementById('live')?.dataset.number ?? NaN);
      if (number >= shown) {
        shown = number;
        swap(next);
        current = asked;
      }
    } catch {
      wanted = true;
      break; // The next poll, or the next word of the stream, tries again.
    }
  }
  fetching = false;
  show();
}

function concerns(data) {
  return kind !== 'task' || data.others || !data.tasks || data.tasks.includes(Number(task));
}

function sound(data) {
  const actions = data.actions ?? [data.action];
  if (kind === 'rider' && actions.some((action) => ['offer', 'reassign'].includes(action)) && data.rider_id) sounds.play('mine');
  if (kind === 'board' && actions.some((action) => ['decline', 'expire', 'hand-back'].includes(action))) sounds.play('lost');
  if (kind === 'board' && actions.includes('pool-entered')) sounds.play('pool');
}

const words = {
  hello: (data) => {
    away = 0;
    const other = epoch && data.epoch !== epoch;
    epoch = data.epoch ?? '';
    if (other) words.reset();
    else if (data.head > shown) refresh();
  },
  gone: () => {
    away ||= performance.now();
  },
  event: (data) => {
    refresh();
    sound(data);
  },
  changes: (data) => {
    if (concerns(data)) refresh();
    sound(data);
  },
  through: () => {},
  pool: () => refresh(),
  ping: () => {
    if (wanted) refresh();
  },
  reset: () => {
    shown = 0; // Numbers of before mean nothing any more.
    refresh();
  },
  bye: (data) => {
    if (data.reason === 'rights') refresh();
  },
};

const follow = new Follow(stream, (name, data) => {
  open = name !== 'gone';
  if (open) heard = performance.now();
  words[name](data);
  show();
});

function join() {
  left = false;
  follow.join(shown);
}

function leave() {
  left = true;
  open = false;
  follow.leave();
}

let lastPoll = performance.now();
let alarmed = false;
setInterval(() => {
  const now = performance.now();
  if (!left && hiddenAt && now - hiddenAt > HIDDEN_MS && !sounds.on) leave();
  follow.look();
  const every = away ? Math.min(pollMs || POLL_WHEN_AWAY_MS, POLL_WHEN_AWAY_MS) : pollMs;
  if (every && now - lastPoll >= every && !hiddenAt) {
    lastPoll = now;
    refresh();
  }
  if (away && now - away > 30000 && !alarmed) sounds.play('away');
  alarmed = away > 0 && now - away > 30000;
  show();
}, 1000);

document.addEventListener('visibilitychange', () => {
  hiddenAt = document.hidden ? performance.now() : 0;
  if (document.hidden) return;
  if (left) join();
  refresh();
});
addEventListener('pagehide', leave);
addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  join();
  refresh();
});
addEventListener('online', () => follow.soon());
join();
show();
