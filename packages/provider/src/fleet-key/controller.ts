import { isDeepStrictEqual } from 'node:util';
import { labels, type MacFleet, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { newKeyPair } from '@tartan/host';
import {
  type Controller,
  type ControllerOptions,
  createController,
  done,
  errorMessage,
  fieldsChanged,
  fromInformer,
  type InformerEvent,
  type Live,
  type Reconciler,
  requeueAfter,
} from '@tartan/kube';
import type { HostPool } from '@tartan/scaleway';
import type { ClusterGetter, Informers } from '../controller-deps.ts';
import { sshKeyName } from '../machine/machine.ts';
import { cachedPauseReasons, pauseReasonsOf } from '../pause/pauses.ts';
import { type ActDeps, reconcileKey } from './act.ts';
import { createRegisteredKeys } from './registered-keys.ts';

/** The SSH key of a fleet, for connections to its Macs. */
export type FleetKey =
  /** Stored, and registered at Scaleway. `privateKey` is in OpenSSH format; never put it anywhere else. */
  | { readonly kind: 'ready'; readonly privateKey: string; readonly publicKey: string }
  /** Being created. `subscribe` reports changes. */
  | { readonly kind: 'pending' }
  /** Could not be created or registered; `message` is for users. The controller retries. */
  | { readonly kind: 'unavailable'; readonly message: string };

const pending: FleetKey = { kind: 'pending' };

/** The keys in memory, for those who connect to Macs. */
const createFleetKeyStore = () => {
  const keys = new Map<string, FleetKey>();
  const listeners = new Set<(fleet: string) => void>();
  return {
    of: (fleet: string): FleetKey => keys.get(fleet) ?? pending,
    /** Calls `listener` with the name of each fleet whose key has changed, or has become ready or unavailable. */
    subscribe: (listener: (fleet: string) => void): (() => void) => {
      // A new function for each call, so that the same listener can subscribe twice and unsubscribe once.
      const heard = (fleet: string): void => listener(fleet);
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    set: (fleet: string, key: FleetKey): void => {
      if (isDeepStrictEqual(keys.get(fleet), key)) return;
      keys.set(fleet, key);
      for (const listener of listeners) listener(fleet);
    },
    delete: (fleet: string): unknown => keys.delete(fleet),
    clear: (): void => keys.clear(),
  };
};

export type FleetKeyStore = ReturnType<typeof createFleetKeyStore>;
export type FleetKeys = Pick<FleetKeyStore, 'of' | 'subscribe'>;

export interface FleetKeysOptions
  extends Omit<ActDeps, 'store' | 'newKeyPair' | 'verifyEveryMs' | 'verified' | 'registeredKeys'>,
    Pick<ControllerOptions, 'clock' | 'metrics'>,
    Pick<Informers, 'machines' | 'macFleets'> {
  readonly pool: Pick<HostPool, 'listKeys' | 'createKey' | 'deleteKey'>;
  readonly clusters: ClusterGetter;
  readonly newKeyPair?: ActDeps['newKeyPair'];
  /** Default: 10 min. If a key is deleted at Scaleway, Macs installed after that do not accept it. */
  readonly verifyEveryMs?: number;
}

const defaultVerifyMs = 10 * 60_000;
/** Interval of checks whether a pause is over. */
const pausedMs = 15_000;

/**
 * Maintains an SSH key for each fleet: creates, stores and registers it at Scaleway, and verifies the registration regularly. Also for a
 * fleet without machines, as a Mac accepts only the keys that are registered when it is installed. Keys outlive their machines, since Macs
 * still have them. Does nothing while all that use the key are paused.
 * Needs: get, create, patch of secrets in the namespace of secrets; the permission set SSHKeysFullAccess at Scaleway.
 */
export const createFleetKeys = (options: FleetKeysOptions): FleetKeys & { readonly controller: Controller } => {
  const { machines, macFleets, clusters, clock, verifyEveryMs = defaultVerifyMs } = options;
  const store = createFleetKeyStore();
  /** When Scaleway last confirmed the key, by the monotonic clock. */
  const verifiedAt = new Map<string, number>();
  const verified = (fleet: string): unknown => verifiedAt.set(fleet, clock.monotonic());
  const registeredKeys = createRegisteredKeys(options.pool, clock);
  const deps: ActDeps = { newKeyPair, ...options, registeredKeys, verifyEveryMs, store, verified };
  const fleetsUsing = (fleet: string) =>
    macFleets.byIndex('name', fleet).filter((each) => keyNamesOf(each).includes(fleet));
  const machinesUsing = (fleet: string) => machines.byIndex('sshKey', fleet);
  const isWanted = (fleet: string): boolean => fleetsUsing(fleet).length > 0 || machinesUsing(fleet).length > 0;
  /** All machines that use the key are paused; or the fleet, if it has no machines. */
  const isPaused = (fleet: string): boolean => {
    const asking = machinesUsing(fleet);
    return asking.length > 0
      ? asking.every((machine) => cachedPauseReasons(machine, clusters).length > 0)
      : fleetsUsing(fleet).every((each) => pauseReasonsOf(each, undefined).length > 0);
  };

  const reconcile: Reconciler = async (fleet, signal) => {
    if (!isWanted(fleet)) {
      store.delete(fleet);
      verifiedAt.delete(fleet);
      return done;
    }
    if (isPaused(fleet)) return requeueAfter(pausedMs);
    // A new machine is no reason to ask Scaleway again.
    const leftMs = (verifiedAt.get(fleet) ?? -Infinity) + verifyEveryMs - clock.monotonic();
    if (leftMs > 0) return requeueAfter(leftMs);
    try {
      return await reconcileKey(deps, fleet, signal);
    } catch (error) {
      // A ready key stays ready while it cannot be verified.
      if (!signal.aborted && store.of(fleet).kind !== 'ready')
        store.set(fleet, { kind: 'unavailable', message: failureMessage(fleet, error) });
      return { kind: 'failed', error };
    }
  };

  const controller = createController({
    ...options,
    name: 'fleet-key',
    reconcile,
    sources: [
      // What an earlier term knew is not trusted, and not kept for fleets that are gone.
      () => {
        store.clear();
        verifiedAt.clear();
        return () => {};
      },
      fromInformer(machines, (machine) => [sshKeyName(machine)], keyNameChanged),
      fromInformer(macFleets, keyNamesOf, addedOrRemoved),
    ],
  });
  return { of: store.of, subscribe: store.subscribe, controller };
};

/** Ignores the frequent status writes of machines. */
const keyNameChanged = fieldsChanged<ScalewayAppleSiliconMachine>(sshKeyName);

/** Only for a fleet that a user created. For a fleet that was created for machines, the machines ask for the key themselves. */
const keyNamesOf = ({ metadata: { name, labels: given } }: Live<MacFleet>): string[] =>
  given?.[labels.managedBy] === undefined ? [name] : [];

const addedOrRemoved = ({ type }: InformerEvent<MacFleet>): boolean => type !== 'changed';

const failureMessage = (fleet: string, error: unknown): string =>
  `The SSH key of the fleet ${fleet} could not be made or registered: ${errorMessage(error)} It is tried again.`;
