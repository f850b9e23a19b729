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
const numberLike = z
  .union([z.number(), z.string().trim().min(1).transform(Number)])
  .pipe(z.number().nonnegative())
  .optional()
  .catch(undefined);
const optionalString = z.string().optional().catch(undefined);
const optionalBoolean = z.boolean().optional().catch(undefined);

const entrySchema = z.object({
  Source: z.enum(['local', 'OCI', 'oci']),
  Name: z.string().min(1),
  Disk: numberLike,
  Size: numberLike,
  Accessed: optionalString,
  Running: optionalBoolean,
  State: optionalString,
});
const detailsSchema = z.object({
  OS: optionalString,
  CPU: numberLike,
  Memory: numberLike,
  Disk: numberLike,
  Size: numberLike,
  Display: optionalString,
  Running: optionalBoolean,
  State: optionalString,
});

/** In doubt it runs: both fields must deny it. */
const stateOf = (running: boolean | undefined, state: string | undefined): VmState => {
  const reported = state?.toLowerCase();
  if (running === true || reported === 'running') return 'running';
  if (reported === 'stopped' || reported === 'suspended') return reported;
  return reported === undefined && running === false ? 'stopped' : 'unknown';
};

const timeOf = (text: string | undefined): number | undefined => {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** `tart list --format json`; `undefined` is an answer that is no list at all. */
export const decodeList = (text: string): VmList | undefined => {
  const parsed = z.array(z.unknown()).safeParse(parseJson(text));
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
  const parsed = detailsSchema.safeParse(parseJson(text));
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
