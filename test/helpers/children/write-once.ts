import { errorBody } from '../../../src/lib/errors';
import { replaceFile } from '../../../src/lib/platform/files/atomic-file';
import { completeAppend, planAppend } from '../../../src/lib/platform/files/jsonl';

/** One write by whichever user runs this; says the error as steward would, or `ok`. */
const [, , kind, path = ''] = process.argv;
try {
  if (kind === 'replace') replaceFile(path, 'new');
  else completeAppend(path, planAppend(path, ['new']));
  console.log('"ok"');
} catch (error) {
  console.log(JSON.stringify(errorBody(error)));
}
