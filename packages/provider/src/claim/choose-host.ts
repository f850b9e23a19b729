import type { MacHost } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { noAvailableHost } from './no-available-host.ts';
import { isHeldBy, isRecorded, type Obstacle, obstacleTo } from './obstacle.ts';
import type { Supply, Wanted } from './wanted.ts';

type Host = Live<MacHost>;

type Choice =
  | {
      readonly kind: 'chosen';
      /** `held`: it is the machine's already. `recorded`: it was, and its status is lost. `free`: it is in the pool. */
      readonly because: 'held' | 'recorded' | 'free';
      readonly host: Host;
    }
  /** The Mac that the machine held will do, but not now. To take another would be to take a second one (I-22). */
  | { readonly kind: 'wait'; readonly host: Host; readonly message: string }
  | { readonly kind: 'none'; readonly message: string };

interface Candidate {
  readonly host: Host;
  readonly obstacle: Obstacle | undefined;
}

/**
 * Which Mac a machine without one should reserve. First what is its own already, then what it is recorded to hold, then the pool: those that
 * failed least often, and of these the one that has been there longest, so that all are used in turn (G-11).
 */
export const chooseHost = (wanted: Wanted, { hosts, reservedByOthers, now }: Supply): Choice => {
  const held = hosts.filter((host) => isHeldBy(host, wanted.uid)).sort(byName)[0];
  if (held) return { kind: 'chosen', because: 'held', host: held };

  const candidates = hosts
    .filter(({ metadata }) => !reservedByOthers.has(metadata.name))
    .map((host): Candidate => ({ host, obstacle: obstacleTo(wanted, host, now) }));
  const isFree = ({ obstacle }: Candidate): boolean => obstacle === undefined;

  const mine = candidates.filter(({ host }) => isRecorded(wanted, host));
  const recorded = firstInTurn(mine.filter(isFree));
  if (recorded) return { kind: 'chosen', because: 'recorded', host: recorded };
  const busy = firstInTurn(mine.filter(({ obstacle }) => obstacle === 'not ready'));
  if (busy) return { kind: 'wait', host: busy, message: waitingFor(wanted, busy) };
  const free = firstInTurn(candidates.filter(isFree));
  if (free) return { kind: 'chosen', because: 'free', host: free };
  return { kind: 'none', message: noAvailableHost(wanted, { hosts, reservedByOthers, now }) };
};

const waitingFor = ({ name }: Wanted, { metadata, status }: Host): string =>
  `The server ${metadata.name} is recorded as that of ${name}, but is ${status?.serverStatus ?? 'in an unknown state'}. It is taken once it is ready.`;

/** Without putting all in order: a claim must not take longer in a large pool. */
const firstInTurn = (candidates: readonly Candidate[]): Host | undefined =>
  candidates
    .map(({ host }) => host)
    .reduce<Host | undefined>(
      (first, host) => (first === undefined || inTurn(host, first) < 0 ? host : first),
      undefined,
    );

const inTurn = (a: Host, b: Host): number => failuresOf(a) - failuresOf(b) || sinceOf(a) - sinceOf(b) || byName(a, b);

const failuresOf = ({ status }: Host): number => status?.quarantine?.count ?? 0;

/** One of unknown age comes last. A large number and no infinity: the difference of two infinities is no number. */
const sinceOf = ({ status }: Host): number => {
  const since = Date.parse(status?.since ?? '');
  return Number.isNaN(since) ? Number.MAX_SAFE_INTEGER : since;
};

const byName = (a: Host, b: Host): number => (a.metadata.name < b.metadata.name ? -1 : 1);
