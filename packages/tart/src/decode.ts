import { z } from 'zod';

/** What `State` says. `unknown` is an answer that says nothing of it: whoever deletes must read it as alive. */
export type VmState = 'running' | 'stopped' | 'suspended' | 'unknown';

/** One entry of `tart list`: a local virtual machine, or an image under a tag or a digest. */
export interface VmEntry {
  readonly source: 'local' | 'OCI';
  readonly name: string;
  readonly state: VmState;
  /** Milliseconds since the epoch. */
  readonly accessedAt: number | undefined;
}

/** What `tart get` says of a local virtual machine. */
export interface VmDetails {
  readonly state: VmState;
  readonly cpu: number | undefined;
  readonly memoryMb: number | undefined;
}

/** Anything else is as if absent: versions of tart differ in the types of fields (INC-49). */
const optionalNumber = z.number().nonnegative().optional().catch(undefined);
const optionalString = z.string().optional().catch(undefined);
const optionalBoolean = z.boolean().optional().catch(undefined);

const entrySchema = z.object({
  Source: z.enum(['local', 'OCI', 'oci']),
  Name: z.string().min(1),
  Accessed: optionalString,
  Running: optionalBoolean,
  State: optionalString,
});
const detailsSchema = z.object({
  CPU: optionalNumber,
  Memory: optionalNumber,
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

/** `tart list --format json`; `undefined` is an answer that is no list at all. An entry that cannot be understood is left out. */
export const decodeList = (text: string): readonly VmEntry[] | undefined =>
  z
    .array(z.unknown())
    .safeParse(parseJson(text))
    .data?.flatMap((item) => {
      const { data } = entrySchema.safeParse(item);
      return data === undefined
        ? []
        : [
            {
              source: data.Source === 'local' ? 'local' : 'OCI',
              name: data.Name,
              state: stateOf(data.Running, data.State),
              accessedAt: timeOf(data.Accessed),
            },
          ];
    });

/** `tart get --format json`; `undefined` is an answer that is no object. */
export const decodeDetails = (text: string): VmDetails | undefined => {
  const { data } = detailsSchema.safeParse(parseJson(text));
  if (data === undefined) return undefined;
  const { CPU, Memory, Running, State } = data;
  return { state: stateOf(Running, State), cpu: CPU, memoryMb: Memory };
};
