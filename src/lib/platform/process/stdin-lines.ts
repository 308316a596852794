import { pipeline, Transform, type Readable } from 'node:stream';

const LF = 0x0a;

/**
 * The lines of stdin that are not blank, each in one piece with its end; the stream closes with stdin. Of a line that is longer than
 * `maxBytes` nothing is kept: `onLong` is called in its place, as soon as that is known.
 */
export function stdinLines(maxBytes: number, onLong: () => void): Readable {
  let parts: Buffer[] = [];
  let size = 0;
  const lines = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length;) {
        const feed = chunk.indexOf(LF, at);
        const piece = chunk.subarray(at, feed === -1 ? chunk.length : feed + 1);
        at += piece.length;
        const isLong = size > maxBytes;
        size += piece.length;
        if (size <= maxBytes) parts.push(piece);
        else {
          parts = [];
          if (!isLong) onLong();
        }
        if (feed === -1) continue;
        if (size <= maxBytes && parts.some(hasText)) this.push(Buffer.concat(parts));
        parts = [];
        size = 0;
      }
      done();
    },
    // The last line may lack its end.
    flush(done) {
      if (parts.some(hasText)) this.push(Buffer.concat([...parts, Buffer.of(LF)]));
      done();
    },
  });
  // A pipe that breaks destroys the lines, which is their end, too.
  pipeline(process.stdin, lines, () => undefined);
  return lines;
}

/** More than blanks, tabs and line ends. */
function hasText(piece: Buffer): boolean {
  return piece.some((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== LF);
}
