import { labels, type MacFleet, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { newKeyPair } from '@tartan/host';
import {
  again,
  type CacheChange,
  type Controller,
  type ControllerOptions,
  createController,
  fromCache,
  type Live,
  type Reconcile,
  settled,
  type WatchCache,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { CoreCluster } from '../cluster/core-cluster.ts';
import { keyNameOf } from '../machine/key-name.ts';
import { pausesOf, pausesInCache } from '../pause/pauses.ts';
import { type Keeper, keep } from './act.ts';
import type { FleetKeys } from './fleet-keys.ts';
import { createKeyBoard } from './key-board.ts';

export interface FleetKeysOptions extends Omit<Keeper, 'board' | 'newKeyPair' | 'verifyEveryMs' | 'verified'> {
  readonly machines: WatchCache<ScalewayAppleSiliconMachine>;
  readonly macFleets: WatchCache<MacFleet>;
  readonly clusters: Pick<WatchCache<CoreCluster>, 'get'>;
  readonly clock: Clock;
  readonly metrics?: ControllerOptions['metrics'];
  readonly newKeyPair?: Keeper['newKeyPair'];
  /** 10 min unless told: whoever deletes a key at Scaleway locks us out of every Mac that is installed after that. */
  readonly verifyEveryMs?: number;
}

const usualVerifyMs = 10 * 60_000;
/** Between two looks whether a pause is over. */
const pausedMs = 15_000;

/**
 * An SSH key for each fleet, also before it has machines, as Macs know those keys only that are there when they are installed: made, stored,
 * registered at Scaleway, and looked at again now and then. Keys outlive their machines, since Macs have them. Nothing is made,
 * registered or removed while everybody who asks for a key is paused.
 * Needs: get, create, patch of secrets in the namespace of secrets; the permission set SSHKeysFullAccess at Scaleway.
 */
export const createFleetKeys = (options: FleetKeysOptions): FleetKeys & { readonly controller: Controller } => {
  const { machines, macFleets, clusters, clock, log, metrics, verifyEveryMs = usualVerifyMs } = options;
  const board = createKeyBoard();
  /** When Scaleway last said so, by the monotonic clock. */
  const verifiedAt = new Map<string, number>();
  const verified = (fleet: string): unknown => verifiedAt.set(fleet, clock.monotonic());
  const keeper: Keeper = { newKeyPair, ...options, verifyEveryMs, board, verified };
  const fleetsThatAsk = (fleet: string) => macFleets.list().filter((each) => keyNamesOf(each).includes(fleet));
  const machinesThatAsk = (fleet: string) => machines.list().filter((machine) => keyNameOf(machine) === fleet);
  const isWanted = (fleet: string): boolean => fleetsThatAsk(fleet).length > 0 || machinesThatAsk(fleet).length > 0;
  /** Of all machines that ask for it; of the fleet, while it has none. */
  const isPaused = (fleet: string): boolean => {
    const asking = machinesThatAsk(fleet);
    return asking.length > 0
      ? asking.every((machine) => pausesInCache(machine, clusters).length > 0)
      : fleetsThatAsk(fleet).every((each) => pausesOf(each, undefined).length > 0);
  };

  const reconcile: Reconcile = async (fleet, signal) => {
    if (!isWanted(fleet)) {
      board.forget(fleet);
      verifiedAt.delete(fleet);
      return settled;
    }
    if (isPaused(fleet)) return again(pausedMs);
    // A new machine is no reason to ask Scaleway again.
    const leftMs = (verifiedAt.get(fleet) ?? -Infinity) + verifyEveryMs - clock.monotonic();
    if (leftMs > 0) return again(leftMs);
    try {
      return await keep(keeper, fleet, signal);
    } catch (error) {
      // A key that was good stays good while nobody can look.
      if (!signal.aborted && board.of(fleet).kind !== 'ready')
        board.hang(fleet, { kind: 'unavailable', message: troubleWith(fleet, error) });
      return { kind: 'failed', error };
    }
  };

  const controller = createController({
    name: 'fleet-key',
    reconcile,
    sources: [
      fromCache(machines, (machine) => [keyNameOf(machine)], changesFleets),
      fromCache(macFleets, keyNamesOf, comesOrGoes),
    ],
    clock,
    log,
    ...(metrics && { metrics }),
  });
  return { of: board.of, subscribe: board.subscribe, controller };
};

/** Machines write their status all the time. */
const changesFleets = (change: CacheChange<ScalewayAppleSiliconMachine>): boolean =>
  change.type !== 'changed' || keyNameOf(change.object) !== keyNameOf(change.previous);

/** Of a fleet that people made. One that was made for machines is there because of them, and they ask for the key themselves. */
const keyNamesOf = ({ metadata: { name, labels: given } }: Live<MacFleet>): string[] =>
  given?.[labels.managedBy] === undefined ? [name] : [];

const comesOrGoes = ({ type }: CacheChange<MacFleet>): boolean => type !== 'changed';

const troubleWith = (fleet: string, error: unknown): string =>
  `The SSH key of the fleet ${fleet} could not be made or registered: ${error instanceof Error ? error.message : String(error)} It is tried again.`;
