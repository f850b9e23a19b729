import { machine, machine as machineKind, macHost, type MacHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Client, isKubeError, type Live, patchStatus } from '@tartan/kube';
import { chooseHost } from '../choose-host.ts';
import { endReservation, readHost, releaseHeldHost, reserveHost, takeHost } from '../claim-host.ts';
import { exampleRelease, wanted } from '../testing/hosts.ts';
import type { Ledger } from './ledger.ts';

type Machine = Live<ScalewayAppleSiliconMachine>;
type Host = Live<MacHost>;

interface ActorDeps {
  readonly client: Client;
  readonly ledger: Ledger;
  readonly random: () => number;
}

/** The behaviour of one manager: probabilities in [0, 1]. */
interface ManagerBehaviour {
  /** How often it refreshes its cache of machines, or of hosts. */
  readonly refreshes: { readonly machines: number; readonly hosts: number };
  /** How often provisioning a host fails. */
  readonly givesUp: number;
}

/** A crash, a lost response or a conflict ends the pass. */
const ignoreKubeErrors = async (act: () => Promise<void>): Promise<void> => {
  try {
    await act();
  } catch (error) {
    if (!isKubeError(error)) throw error;
  }
};

const pickOne = <T>(random: () => number, all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];

/** A manager that believes to be the leader. The age of its caches depends on `refreshes` and chance. */
export const createManager = ({ client, ledger, random }: ActorDeps, { refreshes, givesUp }: ManagerBehaviour) => {
  let machines: Machine[] = [];
  let hosts: Host[] = [];
  const now = Date.parse('2026-06-01T00:00:00Z');

  const refreshMachines = (): void => {
    machines = [...ledger.machines.values()];
  };
  const refreshHosts = (): void => {
    hosts = [...ledger.hosts.values()];
  };

  const claim = async (own: Machine): Promise<void> => {
    const want = { ...wanted, name: own.metadata.name, uid: own.metadata.uid };
    let reserved = own;
    let host = hosts.find(({ metadata }) => metadata.name === own.status?.serverID);
    if (!own.status?.serverID) {
      const reservedByOthers = new Set(
        machines.filter((each) => each !== own).flatMap(({ status }) => status?.serverID ?? []),
      );
      // Sometimes it ignores the reservations of others, to cause more conflicts.
      const choice = chooseHost(want, {
        candidates: hosts,
        hosts: () => hosts,
        counts: () => new Map(),
        now,
        isReservedByOther: random() < 0.5 ? () => false : (id) => reservedByOthers.has(id),
      });
      if (choice.kind !== 'chosen') return;
      const reservation = await reserveHost(client, own, choice.host);
      if (reservation === undefined) return;
      reserved = reservation;
      host = choice.host;
    }
    const outcome = await takeHost(client, { machine: reserved, wanted: want, host, now });
    if (outcome.kind === 'lost') await forgetReservation(client, reserved);
    // A host that cannot be provisioned is released first, then the reservation is removed.
    if (outcome.kind === 'taken' && random() < givesUp) {
      const given = await giveBack(outcome.machine);
      if (given !== 'conflict') await forgetReservation(client, outcome.machine);
    }
  };

  const giveBack = ({ metadata, status }: Machine) =>
    releaseHeldHost(client, {
      serverID: status?.serverID ?? '',
      holder: metadata.uid,
      release: exampleRelease,
    });

  const deleteMachine = async (own: Machine): Promise<void> => {
    if (own.status?.serverID) {
      const given = await giveBack(own);
      if (given === 'conflict') return;
      const left = given === 'not held' ? await readHost(client, own.status.serverID) : undefined;
      if (left !== undefined && (await endReservation(client, own, left)) === 'conflict') return;
    }
    const { namespace = '', name, resourceVersion, uid } = own.metadata;
    const body = { metadata: { uid, resourceVersion, finalizers: [] } };
    await client.patch(machine.resource, { namespace, name }, { type: 'merge', body });
  };

  const reconcileMachine = (own: Machine): Promise<void> =>
    own.metadata.deletionTimestamp === undefined ? claim(own) : deleteMachine(own);

  const pass = async (): Promise<void> => {
    const own = pickOne(random, machines);
    if (own) await reconcileMachine(own);
  };

  return {
    live: async (rounds: number): Promise<void> => {
      refreshMachines();
      refreshHosts();
      for (let round = 0; round < rounds; round += 1) {
        if (random() < refreshes.machines) refreshMachines();
        if (random() < refreshes.hosts) refreshHosts();
        await ignoreKubeErrors(pass);
      }
    },
    /** Reads everything anew, and reconciles every machine. */
    finish: async (): Promise<void> => {
      for (const { metadata } of ledger.machines.values()) {
        refreshMachines();
        refreshHosts();
        const own = machines.find((each) => each.metadata.name === metadata.name);
        if (own) await ignoreKubeErrors(() => reconcileMachine(own));
      }
    },
  };
};

/** As much of the MacHost controller as a claim meets: wipes released hosts, and writes a status now and then. */
export const createHostController = ({ client, ledger, random }: ActorDeps) => {
  const write = ({ metadata: { name, uid, resourceVersion } }: Host, change: object, subresource?: 'status') =>
    client.patch(
      macHost.resource,
      { name },
      { type: 'merge', body: { metadata: { uid, resourceVersion }, ...change } },
      subresource ? { subresource } : {},
    );
  const look = async (): Promise<void> => {
    const hosts = [...ledger.hosts.values()];
    const host = hosts.find(({ spec }) => spec.release) ?? pickOne(random, hosts);
    if (host !== undefined) await reconcileHost(host);
  };
  const reconcileHost = async (host: Host): Promise<void> => {
    if (host.spec.release) {
      const releasing = await write(host, { status: { state: 'releasing' } }, 'status');
      const wiped = await write(releasing, { spec: { release: null } });
      await write(wiped, { status: { state: 'pool' } }, 'status');
    } else if (host.status?.state === 'releasing') {
      await write(host, { status: { state: 'pool' } }, 'status');
    } else {
      await write(host, { status: { ip: `198.18.0.${Math.floor(random() * 250)}` } }, 'status');
    }
  };
  return {
    live: async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) await ignoreKubeErrors(look);
    },
    wipeAll: async (): Promise<void> => {
      for (const host of [...ledger.hosts.values()].filter(
        ({ spec, status }) => spec.release || status?.state === 'releasing',
      ))
        await ignoreKubeErrors(() => reconcileHost(host));
    },
  };
};

/** Deletes machines. */
export const createUser = ({ client, ledger, random }: ActorDeps) => ({
  live: (deletions: number): Promise<void> =>
    ignoreKubeErrors(async () => {
      for (let done = 0; done < deletions; done += 1) {
        const victim = pickOne(random, [...ledger.machines.values()]);
        if (victim) await client.delete(machine.resource, { ...victim.metadata });
      }
    }),
});

/** As the machine controller does it, once the host is lost or released. */
export const forgetReservation = (client: Client, machine: Live<ScalewayAppleSiliconMachine>) => {
  const { serverID: _id, serverVersion: _version, ...rest } = machine.status ?? {};
  return patchStatus(client, machineKind.resource, machine, rest);
};
