import type { ClientChannel } from 'ssh2';

/** What `ssh2` 1.17 keeps to itself. */
declare module 'ssh2' {
  interface Channel {
    readonly _client: { readonly _protocol: { signal(id: number, name: string): void } };
  }
}

/** The host's number for a channel that we have not closed. */
const openId = ({ outgoing }: ClientChannel): number | undefined => {
  if (typeof outgoing !== 'object' || outgoing === null || !('id' in outgoing) || !('state' in outgoing))
    return undefined;
  const open = outgoing.state === 'open' || outgoing.state === 'eof';
  return open && typeof outgoing.id === 'number' ? outgoing.id : undefined;
};

/**
 * Asks the host to end a command, and closes its channel. sshd passes the signal on to all processes of the command.
 * The public `signal` sends nothing once the end of the input was sent, though the command still runs.
 */
export const terminate = (channel: ClientChannel): void => {
  const id = openId(channel);
  if (id !== undefined) channel._client._protocol.signal(id, 'TERM');
  channel.close();
};
