import { codeOf, parseCode, siteName, tickedSites } from './visits.js';

const api = globalThis.browser ?? globalThis.chrome;

/** Shown unticked, to start with. Any other site can be added. */
const SUGGESTED = [
  'bitbucket.org',
  'codeberg.org',
  'developer.mozilla.org',
  'docs.rs',
  'github.com',
  'gitlab.com',
  'news.ycombinator.com',
  'npmjs.com',
  'reddit.com',
  'stackoverflow.com',
  'wikipedia.org',
  'youtube.com',
];

const by = (id) => document.getElementById(id);

function originsOf(name) {
  return { origins: [`https://${name}/*`, `https://*.${name}/*`] };
}

async function showState() {
  const { pairing } = await api.storage.local.get('pairing');
  const { dropped = 0, queue = [], ...told } = await api.storage.session.get();
  const lines = [
    pairing === undefined ? 'Not paired; nothing is recorded.' : pairingText(pairing, told),
    queue.length > 0 ? `Visits that wait to be sent: ${queue.length}.` : '',
    dropped > 0 ? `Visits that were dropped: ${dropped}.` : '',
  ];
  by('state').textContent = lines.filter((line) => line !== '').join(' ');
}

function pairingText(pairing, { answer, said, about }) {
  const { port, token } = pairing;
  const code = `the code that ends in ${token.slice(-4)}`;
  if (about !== codeOf(pairing)) return `Checking ${code}…`;
  if (answer === 202) return `Paired: steward accepted ${code}.`;
  if (answer !== 0) return `Not recorded with ${code}: ${said}`;
  return (
    `steward does not answer on port ${port}, which is in ${code}. Start it with “steward up”. If “steward sense ` +
    'web status” shows another port, enter the code that “steward sense web install” shows. Times of the last hour are kept and sent later.'
  );
}

async function showSites() {
  const { origins } = await api.permissions.getAll();
  const ticked = new Set(tickedSites(origins));
  const names = [...new Set([...ticked, ...SUGGESTED])].sort();
  const focused = document.activeElement.closest('#sites input')?.value;
  by('sites').replaceChildren(...names.map((name) => siteRow(name, ticked.has(name))));
  // The keyboard stays where it was.
  by('sites').querySelector(`[value="${focused}"]`)?.focus();
}

function siteRow(name, isTicked) {
  const row = document.createElement('li');
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.value = name;
  box.checked = isTicked;
  box.addEventListener('change', () => void (box.checked ? tick(name) : untick(name)));
  label.append(box, ` ${name}`);
  row.append(label);
  return row;
}

async function tick(name) {
  await api.permissions.request(originsOf(name));
  await showSites();
}

async function untick(name) {
  await api.permissions.remove(originsOf(name));
  await showSites();
}

by('pair').addEventListener('submit', (event) => {
  event.preventDefault();
  const pairing = parseCode(by('code').value);
  if (pairing === undefined) {
    by('state').textContent =
      'This is not a pairing code. Run “steward sense web install” and copy the whole code.';
    return;
  }
  by('code').value = '';
  // The worker checks the code at once.
  void api.storage.local.set({ pairing });
});

by('add').addEventListener('submit', (event) => {
  event.preventDefault();
  const typed = by('name').value;
  const name = siteName(typed);
  const problem = `“${typed}” is not the name of a site. Enter a name such as example.org.`;
  by('problem').textContent = name === undefined ? problem : '';
  if (name === undefined) return;
  by('name').value = '';
  void tick(name);
});

// The worker asks steward again, because it may have stopped, or have another code. It doesn't answer this message.
api.runtime.sendMessage('check').catch(() => undefined);
api.storage.onChanged.addListener(() => void showState());
api.permissions.onAdded.addListener(() => void showSites());
api.permissions.onRemoved.addListener(() => void showSites());
void showState();
void showSites();
