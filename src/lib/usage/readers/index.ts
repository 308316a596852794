import { claudeCode } from './claude-code';
import { codex } from './codex';
import { copilot } from './copilot';
import { openCode } from './opencode';
import { qwen } from './qwen';
import type { LogReader } from './reader';

export const READERS: readonly LogReader[] = [claudeCode, codex, qwen, openCode, copilot];
