// Brings a page up to date in place: what the server has sent takes the place of what is shown, and whatever somebody is
// about to do stays as it is.
import { Idiomorph } from './idiomorph.js';

const MARKED_MS = 2500;

function dirty(field) {
  if (field.type === 'hidden' || field.disabled) return false;
  if (field.type === 'checkbox' || field.type === 'radio') return field.checked !== field.defaultChecked;
  if (field.tagName === 'SELECT') {
    const first = Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
    return field.selectedIndex !== first;
  }
  return 'value' in field && field.type !== 'submit' && field.tagName !== 'BUTTON' && field.value !== field.defaultValue;
}

// Somebody is at this form. It stays whole, with the revision that it was based on: the server is to say if that is too
// old, and no form may name a revision that nobody has looked at.
function busy(form) {
  const at = document.activeElement;
  const inside = form.contains(at) && at.matches('input, select, textarea');
  return inside || [...form.elements].some(dirty);
}

function typed(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return false;
  const fields = [...node.querySelectorAll('textarea, input:not([type]), input[type="text"]')];
  return fields.some((field) => field.form && dirty(field));
}

const callbacks = {
  beforeNodeMorphed: (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return true;
    return !['live', 'place'].includes(node.id) && !(node.tagName === 'FORM' && busy(node));
  },
  // A card that is gone goes at once; only what somebody has written is kept.
  beforeNodeRemoved: (node) => !typed(node),
  // Opened by hand.
  beforeAttributeUpdated: (name, node) => !(name === 'open' && node.tagName === 'DETAILS'),
};

function revisions() {
  return new Map([...document.querySelectorAll('[data-rev]')].map((row) => [row.id, row.dataset.rev]));
}

function mark(before) {
  for (const row of document.querySelectorAll('[data-rev]')) {
    if (before.get(row.id) === row.dataset.rev) continue;
    row.classList.add('changed');
    setTimeout(() => row.classList.remove('changed'), MARKED_MS);
  }
}

// `next`: the page as the server has it now.
export function swap(next) {
  const before = revisions();
  for (const part of ['#content', '#as-of']) {
    const [old, fresh] = [document.querySelector(part), next.querySelector(part)];
    if (old && fresh) Idiomorph.morph(old, fresh, { morphStyle: 'outerHTML', ignoreActiveValue: true, callbacks });
  }
  mark(before);
}
