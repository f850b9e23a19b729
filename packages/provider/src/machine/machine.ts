import { machine as machineKind, type MachineStatus } from '@tartan/api';
import { type Client, isKubeError, patchIfUnchanged, patchStatus } from '@tartan/kube';
import type { Machine } from '../controller-deps.ts';

type StatusUpdate = (status: MachineStatus, machine: Machine) => MachineStatus;

const maxAttempts = 4;

/**
 * The machine as it was last read or written in this pass, and the only way in which a pass writes to it.
 *
 * Guarantees: a write that failed rejects. A machine that is gone, or another one under its name, is written no more.
 */
export const createMachinePatcher = (client: Client, read: Machine, signal: AbortSignal) => {
  let machine = read;
  const name = { name: read.metadata.name, namespace: read.metadata.namespace ?? '' };
  const options = { signal };

  const updateStatusGuarded = async (fold: StatusUpdate): Promise<void> => {
    machine = await patchStatus(client, machineKind.resource, machine, fold(machine.status ?? {}, machine), options);
  };
  const readAgain = async (): Promise<void> => {
    const now = await client.get(machineKind.resource, name, options);
    if (now.metadata.uid !== read.metadata.uid) throw new Error(`another machine has the name ${name.name} by now`);
    machine = now;
  };
  return {
    get machine(): Machine {
      return machine;
    },
    /** Somebody else of this pass has written the machine. */
    refresh: (written: Machine): void => {
      machine = written;
    },
    /** As `updateStatus`, but a conflict is for the caller: for what was decided on the machine as it was read. */
    updateStatusGuarded,
    /**
     * Writes what `fold` makes of the status. Labels and owners of a machine change while a push takes its minutes, and what the push came
     * to must not be lost by that: after a conflict the machine is read again, and `fold` is asked again.
     */
    updateStatus: async (fold: StatusUpdate): Promise<void> => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await updateStatusGuarded(fold);
        } catch (error) {
          if (!isKubeError(error, 'conflict') || tries === maxAttempts) throw error;
          await readAgain();
        }
      }
    },
    /** A merge patch of the object itself, guarded likewise. */
    patchGuarded: async (body: { metadata?: object; spec?: object }): Promise<void> => {
      machine = await patchIfUnchanged(client, machineKind.resource, machine, body, options);
    },
  };
};

export type MachinePatcher = ReturnType<typeof createMachinePatcher>;

/** Whose SSH key lets us in: that of the fleet, or one of its own for a machine that is of none. */
export const sshKeyName = ({ metadata, spec }: Machine): string =>
  spec.fleetName || `${metadata.namespace ?? ''}-${metadata.name}`;
