import { z } from 'zod';

/** What `State` says. `unknown` is an answer that says nothing of it: whoever deletes must read it as alive. */
export type VmState = 'running' | 'stopped' | 'suspended' | 'unknown';

/** One entry of `tart list`: a local virtual machine, or an image under a tag or a digest. */
export interface VmEntry {
  readonly source: 'local' | 'OCI';
  readonly name: string;
  readonly state: VmState;
  readonly diskGb: number | undefined;
  readonly sizeGb: number | undefined;
  /** Milliseconds since the epoch. */
  readonly accessedAt: number | undefined;
}

export interface VmList {
  readonly entries: readonly VmEntry[];
  /** Entries that could not be understood. While there are any, absence from `entries` proves nothing. */
  readonly unreadable: number;
}

/** What `tart get` says of a local virtual machine. */
export interface VmDetails {
  readonly state: VmState;
  readonly os: string | undefined;
  readonly cpu: number | undefined;
  readonly memoryMb: number | undefined;
  readonly diskGb: number | undefined;
  readonly sizeGb: number | undefined;
  readonly display: string | undefined;
}

/** A number, or one in a string: `list` and `get` differ in `Size` (INC-49). Anything else is as if absent. */
const figure = z
  .union([z.number(), z.string().trim().min(1).transform(Number)])
  .pipe(z.number().nonnegative())
  .optional()
  .catch(undefined);
const word = z.string().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);

const entrySchema = z.object({
  Source: z.enum(['local', 'OCI', 'oci']),
  Name: z.string().min(1),
  Disk: figure,
  Size: figure,
  Accessed: word,
  Running: flag,
  State: word,
});
const detailsSchema = z.object({
  OS: word,
  CPU: figure,
  Memory: figure,
  Disk: figure,
  Size: figure,
  Display: word,
  Running: flag,
  State: word,
});

/** In doubt it runs: both fields must deny it. */
const stateOf = (running: boolean | undefined, state: string | undefined): VmState => {
  const said = state?.toLowerCase();
  if (running === true || said === 'running') return 'running';
  if (said === 'stopped' || said === 'suspended') return said;
  return said === undefined && running === false ? 'stopped' : 'unknown';
};

const timeOf = (text: string | undefined): number | undefined => {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
};

const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** `tart list --format json`; `undefined` is an answer that is no list at all. */
export const decodeList = (text: string): VmList | undefined => {
  const parsed = z.array(z.unknown()).safeParse(json(text));
  if (!parsed.success) return undefined;
  const entries: VmEntry[] = [];
  for (const item of parsed.data) {
    const entry = entrySchema.safeParse(item);
    if (!entry.success) continue;
    const { Source, Name, Disk, Size, Accessed, Running, State } = entry.data;
    entries.push({
      source: Source === 'local' ? 'local' : 'OCI',
      name: Name,
      state: stateOf(Running, State),
      diskGb: Disk,
      sizeGb: Size,
      accessedAt: timeOf(Accessed),
    });
  }
  return { entries, unreadable: parsed.data.length - entries.length };
};

/** `tart get --format json`; `undefined` is an answer that is no object. */
export const decodeDetails = (text: string): VmDetails | undefined => {
  const parsed = detailsSchema.safeParse(json(text));
  if (!parsed.success) return undefined;
  const { OS, CPU, Memory, Disk, Size, Display, Running, State } = parsed.data;
  return {
    state: stateOf(Running, State),
    os: OS,
    cpu: CPU,
    memoryMb: Memory,
    diskGb: Disk,
    sizeGb: Size,
    display: Display,
  };
};
