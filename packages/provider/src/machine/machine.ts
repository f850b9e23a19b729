import { machine as machineKind, type MachineStatus } from '@tartan/api';
import { type Client, isKubeError, patchIfUnchanged, patchStatus } from '@tartan/kube';
import type { Machine } from '../controller-deps.ts';

type StatusUpdate = (status: MachineStatus, machine: Machine) => MachineStatus;

const maxAttempts = 4;

/**
 * The machine as last read or written in this pass, and the only way in which a pass writes to it.
 * Guarantees: a failed write rejects. Nothing is written to a machine that is gone, or to another one of its name.
 */
export const createMachinePatcher = (client: Client, read: Machine, signal: AbortSignal) => {
  let machine = read;
  const name = { name: read.metadata.name, namespace: read.metadata.namespace ?? '' };
  const options = { signal };

  const updateStatusGuarded = async (fold: StatusUpdate): Promise<void> => {
    machine = await patchStatus(client, machineKind.resource, machine, fold(machine.status ?? {}, machine), options);
  };
  /** False: the machine has another Mac by now, to which the outcome of this pass does not apply. */
  const readAgain = async (): Promise<boolean> => {
    const now = await client.get(machineKind.resource, name, options);
    if (now.metadata.uid !== read.metadata.uid) throw new Error(`another machine has the name ${name.name} by now`);
    if (now.status?.serverID !== machine.status?.serverID) return false;
    machine = now;
    return true;
  };
  return {
    get machine(): Machine {
      return machine;
    },
    /** After a write to the machine by another part of this pass. */
    refresh: (written: Machine): void => {
      machine = written;
    },
    /** Like `updateStatus`, but rejects on a conflict: for decisions that depend on the machine as it was read. */
    updateStatusGuarded,
    /**
     * Writes the status that `fold` returns. Labels and owners of a machine may change during a push of minutes, whose outcome must not be
     * lost: after a conflict the machine is read and `fold` called again, unless it has another Mac by now.
     */
    updateStatus: async (fold: StatusUpdate): Promise<void> => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await updateStatusGuarded(fold);
        } catch (error) {
          if (!isKubeError(error, 'conflict') || tries === maxAttempts || !(await readAgain())) throw error;
        }
      }
    },
    /** A merge patch of the object, guarded likewise. */
    patchGuarded: async (body: { metadata?: object; spec?: object }): Promise<void> => {
      machine = await patchIfUnchanged(client, machineKind.resource, machine, body, options);
    },
  };
};

export type MachinePatcher = ReturnType<typeof createMachinePatcher>;

/** The name of the SSH key: that of the fleet, or the machine's own if it has no fleet. */
export const sshKeyName = ({ metadata, spec }: Machine): string =>
  spec.fleetName || `${metadata.namespace ?? ''}-${metadata.name}`;

/** Since when a machine finds no Mac; undefined if it is not looking for one. */
export const waitingSince = ({ status }: Machine): number | undefined => {
  const since = Date.parse(status?.waitingForHostSince ?? '');
  return Number.isNaN(since) ? undefined : since;
};
