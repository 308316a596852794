// npm run extension [-- FOLDER]: the packages of the browser extension for the stores. The same source makes the same bytes.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';

const ROOT = resolve(fileURLToPath(import.meta.url), '..', '..');
const SOURCE = join(ROOT, 'extension');

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const out = resolve(process.argv[2] ?? join(ROOT, 'packages'));
mkdirSync(out, { recursive: true });
for (const browser of ['chromium', 'firefox']) {
  const files = readdirSync(SOURCE)
    .sort()
    .map((name) => [
      name,
      name === 'manifest.json' ? manifestFor(browser) : readFileSync(join(SOURCE, name)),
    ]);
  const path = join(out, `steward-extension-${version}-${browser}.zip`);
  writeFileSync(path, zip(files));
  console.log(path);
}

/** Returns the manifest without what the other browser needs, and without the key, which stores give. */
function manifestFor(browser) {
  const manifest = JSON.parse(readFileSync(join(SOURCE, 'manifest.json'), 'utf8'));
  const { service_worker, scripts, type } = manifest.background;
  manifest.background = browser === 'firefox' ? { scripts, type } : { service_worker, type };
  delete manifest.key;
  delete manifest[browser === 'firefox' ? 'minimum_chrome_version' : 'browser_specific_settings'];
  return Buffer.from(`${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
}

/** Returns a ZIP archive without compression. All files have the earliest date that the format knows. */
function zip(files) {
  const locals = [];
  const entries = [];
  let offset = 0;
  for (const [name, bytes] of files) {
    const title = Buffer.from(name);
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0);
    header.writeUInt16LE(0x21, 8);
    header.writeUInt32LE(crc32(bytes), 10);
    header.writeUInt32LE(bytes.length, 14);
    header.writeUInt32LE(bytes.length, 18);
    header.writeUInt16LE(title.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), header, title, bytes]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), header, place, title]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end]);
}
