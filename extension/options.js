import { parseCode, tickedSites } from './visits.js';

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

const STATES = {
  0: 'steward is not running. Times of the last hour are kept and sent later.',
  202: 'The last visit reached steward.',
  401: 'The code is no longer valid. Run “steward sense web pair” and enter the new code.',
  403: 'steward refuses this extension. Run “steward sense web status”.',
  409: 'The source is turned off: steward config set sense.sources.web true',
};

const by = (id) => document.getElementById(id);

function originsOf(name) {
  return { origins: [`https://${name}/*`, `https://*.${name}/*`] };
}

async function showState() {
  const { pairing } = await api.storage.local.get('pairing');
  const { answer, dropped = 0, queue = [] } = await api.storage.session.get();
  const sent =
    answer === undefined
      ? 'Nothing was sent yet.'
      : (STATES[answer] ?? `steward answered with status ${answer}.`);
  const lines = [
    ...(pairing === undefined
      ? ['Not paired; nothing is recorded.']
      : [`Paired with the code that ends in ${pairing.token.slice(-4)}.`, sent]),
    queue.length > 0 ? `${queue.length} visits wait to be sent.` : '',
    dropped > 0 ? `${dropped} visits were dropped.` : '',
  ];
  by('state').textContent = lines.filter((line) => line !== '').join(' ');
}

async function showSites() {
  const { origins } = await api.permissions.getAll();
  const ticked = new Set(tickedSites(origins));
  const names = [...new Set([...ticked, ...SUGGESTED])].sort();
  by('sites').replaceChildren(...names.map((name) => siteRow(name, ticked.has(name))));
}

function siteRow(name, isTicked) {
  const row = document.createElement('li');
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = isTicked;
  box.addEventListener('change', () => void (box.checked ? tick(name) : untick(name)));
  label.append(box, ` ${name}`);
  row.append(label);
  return row;
}

async function tick(name) {
  try {
    await api.permissions.request(originsOf(name));
    by('problem').textContent = '';
  } catch {
    by('problem').textContent = `The browser does not accept “${name}” as the name of a site.`;
  }
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
      'This is not a pairing code. Run “steward sense web pair” and copy the whole code.';
    return;
  }
  by('code').value = '';
  // What steward answered to the code before says nothing about this one.
  void api.storage.session.remove('answer').then(() => api.storage.local.set({ pairing }));
});

by('add').addEventListener('submit', (event) => {
  event.preventDefault();
  const name = by('name').value.trim().toLowerCase();
  by('name').value = '';
  void tick(name);
});

api.storage.onChanged.addListener(() => void showState());
api.permissions.onAdded.addListener(() => void showSites());
api.permissions.onRemoved.addListener(() => void showSites());
void showState();
void showSites();
