import { captureOnce } from '../sense';

/** One capture in a folder at a time; says its problems, or its error. */
const [, , folder = '', iso = ''] = process.argv;
captureOnce(folder, iso).then(
  ({ problems }) => console.log(JSON.stringify(problems)),
  (error: unknown) => {
    console.log(JSON.stringify([String(error)]));
    process.exitCode = 1;
  },
);
