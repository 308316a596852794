import { version } from '../../../package.json';

/** The version of the product; `sense version` is that of one component. */
export const VERSION: string = version;
