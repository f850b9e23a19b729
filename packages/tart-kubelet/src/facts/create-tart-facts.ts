import type { Clock } from '@tartan/kube/clock';
import { type ProcessTable, type Tart, vmProcesses } from '@tartan/tart';
import { createIsMarked } from '../collect/marked.ts';
import { isGoldenName } from '../images/golden-name.ts';
import type { GuestDisk, Slots } from '../node/host-facts.ts';
import type { TartFacts } from '../node/mac/mac-facts.ts';
import { basesOnDisk } from './bases-on-disk.ts';
import { createGuestDisks } from './guest-disks.ts';
import { goldenLabels, imageFacts } from './image-facts.ts';
import { imagesOnDisk } from './images-on-disk.ts';

export interface TartFactsOptions {
  readonly tart: Pick<Tart, 'version' | 'exec'>;
  readonly tartHome: string;
  readonly processes: ProcessTable;
  /** Of the executable of tart, also those with spaces in them. */
  readonly tartPaths: readonly string[];
  readonly vmSlots: number;
  readonly clock: Clock;
  /** Told of each look, for the metrics. */
  readonly onLook?:
    | ((found: { readonly slots?: Slots; readonly guestDisks?: readonly GuestDisk[] }) => void)
    | undefined;
}

/** One look at the processes serves all who ask within this time. */
const freshMs = 5_000;

/**
 * What this Mac has of virtual machines and images. Each fact is looked up by itself and may fail by itself; whoever asks keeps the last
 * one then (INC-43). Images and labels are read from the disk: `tart list` would cost a process each time, and a cut pull its part (G22).
 */
export const createTartFacts = (options: TartFactsOptions): TartFacts => {
  const { tart, tartHome, processes, tartPaths, vmSlots, clock, onLook } = options;
  const isMarked = createIsMarked(tartHome);
  const lookAtDisks = createGuestDisks(tart, clock);
  let last: { readonly at: number; readonly names: Promise<readonly string[]> } | undefined;

  /** Names of virtual machines that are on, whoever started them. */
  const running = (): Promise<readonly string[]> => {
    const at = clock.monotonic();
    if (last === undefined || at - last.at >= freshMs) {
      const names = processes.list().then((list) => [...new Set(vmProcesses(list, tartPaths).map(({ name }) => name))]);
      const mine = { at, names };
      last = mine;
      // A failure is told to those who wait for it, and to nobody later.
      names.catch(() => {
        if (last === mine) last = undefined;
      });
    }
    return last.names;
  };
  /** Those of Pods: nothing is executed in what somebody else runs, nor in a base of ours that somebody runs by hand. */
  const ours = async (): Promise<readonly string[]> => {
    const names = (await running()).filter((name) => !isGoldenName(name));
    const answers = await Promise.all(names.map((name) => isMarked(name).catch(() => false)));
    return names.filter((_, at) => answers[at] === true);
  };

  return {
    slots: async () => {
      const slots = { taken: (await running()).length, total: vmSlots };
      onLook?.({ slots });
      return slots;
    },
    guestDisks: async (signal) => {
      const guestDisks = await lookAtDisks(await ours(), signal);
      onLook?.({ guestDisks });
      return guestDisks;
    },
    images: async () => imageFacts(await imagesOnDisk(tartHome), await basesOnDisk(tartHome)),
    labels: async () => goldenLabels(await basesOnDisk(tartHome)),
    runtime: (signal) => tart.version({ signal }),
  };
};
