import * as dbus from 'dbus-next';

/** What the service answers a call with; a thrown error's `type` and message become the D-Bus error. */
export type Answer = (message: dbus.Message) => { signature: string; body: unknown[] };

/** The library's types have its arguments of an older version. */
const newError = dbus.Message.newError as unknown as (
  message: dbus.Message,
  type: string,
  text: string,
) => dbus.Message;

/** A service on the bus that answers calls by `path interface.member`; anything else is an unknown object. */
export async function serve(
  address: string,
  name: string,
  answers: Readonly<Record<string, Answer>>,
): Promise<{ close: () => void }> {
  const bus = dbus.sessionBus({ busAddress: address });
  bus.addMethodHandler((message: dbus.Message) => {
    const answer = answers[`${message.path} ${message.interface}.${message.member}`];
    if (answer === undefined) {
      const error = 'org.freedesktop.DBus.Error.UnknownMethod';
      bus.send(newError(message, error, `Object does not exist at path “${message.path}”`));
      return true;
    }
    try {
      const { signature, body } = answer(message);
      bus.send(dbus.Message.newMethodReturn(message, signature, body));
    } catch (error) {
      const type = (error as { type?: string }).type ?? 'org.gnome.gjs.JSError.Error';
      bus.send(newError(message, type, (error as Error).message));
    }
    return true;
  });
  await bus.requestName(name, 0);
  return { close: () => bus.disconnect() };
}
