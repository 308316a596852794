/** A test that computes for a tenth of a second or longer: `npm run test:fast` leaves it out. */
export function long(title: string, test: (this: Mocha.Context) => void | Promise<void>): Mocha.Test {
  const run = test as Mocha.AsyncFunc;
  return process.env['STEWARD_TESTS_FAST'] ? it.skip(title, run) : it(title, run);
}
