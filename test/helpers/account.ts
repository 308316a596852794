import { userInfo } from 'node:os';

/** Whether this user has an account; in a container started with `--user` there may be none. */
export function hasAccount(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}
