import type { Clock } from '@tartan/kube/clock';
import { type ProcessTable, type Tart, vmProcesses } from '@tartan/tart';
import { hasMarker } from '../gc/ownership.ts';
import { isGoldenName } from '../images/image-reference.ts';
import { createGuestDiskReader } from './guest-disks.ts';
import type { GuestDiskUsage, VmSlots } from './host-facts.ts';
import { goldenLabels, nodeImages, readGoldenBases, readImages } from './images-on-disk.ts';
import type { TartFacts } from './mac-facts.ts';

export interface TartFactsOptions {
  readonly tart: Pick<Tart, 'version' | 'exec'>;
  readonly tartHome: string;
  readonly processes: ProcessTable;
  /** Paths of the tart executable, possibly with spaces. */
  readonly tartPaths: readonly string[];
  readonly vmSlots: number;
  readonly clock: Clock;
  /** Called after each reading, for the metrics. */
  readonly onObserved?:
    | ((found: { readonly slots?: VmSlots; readonly guestDisks?: readonly GuestDiskUsage[] }) => void)
    | undefined;
}

/**
 * Facts about VMs and images. Each fact is read and may fail independently; the caller keeps the last value (INC-43). Images and labels are
 * read from the disk: `tart list` would cost a process each time, and delete the partial download of an interrupted pull (INC-422).
 */
export const createTartFacts = (options: TartFactsOptions): TartFacts => {
  const { tart, tartHome, processes, tartPaths, vmSlots, clock, onObserved } = options;
  const readGuestDisks = createGuestDiskReader(tart, clock);

  const readRunningVms = async (): Promise<readonly string[]> => [
    ...new Set(vmProcesses(await processes.list(), tartPaths).map(({ name }) => name)),
  ];
  let reading: ReturnType<typeof readRunningVms> | undefined;
  /** Names of running VMs, started by this agent or not. Facts are read together: one ps serves all that need it. */
  const runningVms = (): ReturnType<typeof readRunningVms> => {
    reading ??= readRunningVms().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  /** VMs of Pods. Nothing is executed in VMs of others, nor in a golden base that a user started by hand. */
  const ownVms = async (): Promise<readonly string[]> => {
    const names = (await runningVms()).filter((name) => !isGoldenName(name));
    const answers = await Promise.all(names.map((name) => hasMarker(tartHome, name).catch(() => false)));
    return names.filter((_, at) => answers[at] === true);
  };

  return {
    slots: async () => {
      const slots = { taken: (await runningVms()).length, total: vmSlots };
      onObserved?.({ slots });
      return slots;
    },
    guestDisks: async (signal) => {
      const guestDisks = await readGuestDisks(await ownVms(), signal);
      onObserved?.({ guestDisks });
      return guestDisks;
    },
    images: async () => nodeImages(await readImages(tartHome), await readGoldenBases(tartHome)),
    labels: async () => goldenLabels(await readGoldenBases(tartHome)),
    tartVersion: (signal) => tart.version({ signal }),
  };
};
