let turn = 0;
let isEnding = false;

/** The same number until the event loop has handled all that it found on its sockets in this turn, then another. */
export function loopTurn(): number {
  if (!isEnding) {
    isEnding = true;
    setImmediate(() => {
      turn += 1;
      isEnding = false;
    });
  }
  return turn;
}
