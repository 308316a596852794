import type { Context } from '../app/context';
import type { DaemonFlags } from '../app/daemon';
import type { Instance } from '../daemon/instance';
import { cacheSocket } from '../daemon/socket';
import { fromAfar } from '../platform/desktop/browser';
import { keepMemoryLow, relaunch } from '../platform/process/own-process';

/**
 * Runs the daemon in this process. When the daemon exits, relaunches it unless it was stopped. Returns the
 * exit code.
 */
export async function serveDaemon(
  context: Context,
  flags: DaemonFlags,
  output: { say: (text: string) => void; isJson: boolean; onListening: (instance: Instance) => void },
): Promise<number> {
  keepMemoryLow();
  const { openDaemon } = await import('../app/daemon');
  const { runDaemon } = await import('../daemon/daemon');
  const { parts, warnings } = await openDaemon(context, flags, output.say);
  for (const warning of warnings) output.say(warning);
  let port = parts.port;
  const ending = await runDaemon(parts, (instance) => {
    port = instance.port;
    cacheSocket(context.area, instance.socket);
    output.onListening(instance);
    for (const line of fromAfar(instance.url)) output.say(line);
  });
  if (ending === 'stopped') return 0;
  // A restarted daemon keeps its randomly chosen port, because open pages use this port.
  const isPortFixed = flags.port !== undefined || parts.port === 0;
  return relaunch([
    'daemon',
    'serve',
    ...(flags.host === undefined ? [] : ['--host', flags.host]),
    ...(isPortFixed ? ['--port', String(port)] : []),
    ...(flags.sweep === true ? ['--sweep'] : []),
    ...(output.isJson ? ['--json'] : []),
  ]);
}
