import type { ConnectOutcome, HostAddress } from '@tartan/host';
import type { HostJob, WorkOutcome } from './host-work.ts';

type Failed = Exclude<ConnectOutcome, { kind: 'connected' }>;

/** What it means that a Mac could not be logged in to. */
export const outcomeOfConnection = (outcome: Failed, { user, addresses }: HostJob): WorkOutcome => {
  switch (outcome.kind) {
    case 'never connected': {
      const attempts = outcome.attempts.map(({ address, cause }) => `${where(address)}: ${cause}`);
      const tried = attempts.length === 0 ? 'no address of it is known' : attempts.join('; ');
      return { kind: 'unreachable', message: `The Mac does not answer on SSH (${tried}). It is tried again.` };
    }
    case 'handshake failed':
      return {
        kind: 'unreachable',
        message: `The Mac at ${where(outcome.address)} began to answer on SSH and broke off: ${outcome.cause}. It is tried again.`,
      };
    case 'host key changed':
      return {
        kind: 'host key changed',
        message:
          `The Mac at ${where(outcome.address)} shows the SSH host key ${outcome.hostKey}, and this install had ${outcome.expected}. ` +
          'Nothing was sent to it. If somebody reinstalled it, delete the Machine: it is then wiped and claimed anew. ' +
          'Otherwise find out who answers there.',
      };
    case 'authentication refused':
      return {
        kind: 'rejected',
        step: loginStep,
        message:
          `The Mac at ${where(outcome.address)} does not let ${user} in with the key of the fleet: the key is not on it. Scaleway puts the ` +
          'keys of the project on a Mac at the first boot of an install only, so one that was registered later never gets there. ' +
          `Reinstall the Mac, or add the public key of the fleet to ~${user}/.ssh/authorized_keys by hand` +
          `${addresses.length > 1 ? ' (the other addresses were not tried: it is the same Mac)' : ''}.`,
      };
  }
};

/** Stands where else the name of a step does. */
const loginStep = 'login';

const where = ({ host, port, transport }: HostAddress): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}${transport === 'tailnet' ? ' in the tailnet' : ''}`;
