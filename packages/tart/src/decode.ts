import * as z from 'zod/mini';
import { catch as withFallback } from 'zod/mini';

/** `unknown` if the output does not contain a state: code that deletes must treat it as running. */
export type VmState = 'running' | 'stopped' | 'suspended' | 'unknown';

/** One entry of `tart list`: a local VM, or an image by tag or digest. */
export interface VmEntry {
  readonly source: 'local' | 'OCI';
  readonly name: string;
  readonly state: VmState;
  /** Milliseconds since the epoch. */
  readonly accessedAt: number | undefined;
}

/** The output of `tart get` for a local VM. */
export interface VmDetails {
  readonly state: VmState;
  readonly cpu: number | undefined;
  readonly memoryMb: number | undefined;
}

/** Invalid values count as absent: field types differ between versions of tart (INC-49). */
const optionalNumber = withFallback(z.optional(z.number().check(z.nonnegative())), undefined);
const optionalString = withFallback(z.optional(z.string()), undefined);
const optionalBoolean = withFallback(z.optional(z.boolean()), undefined);

const entrySchema = z.object({
  Source: z.enum(['local', 'OCI', 'oci']),
  Name: z.string().check(z.minLength(1)),
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

/** In doubt it is running: both fields must deny it. */
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

/** `tart list --format json`; `undefined` if the output is no list. Skips invalid entries. */
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

/** `tart get --format json`; `undefined` if the output is no object. */
export const decodeDetails = (text: string): VmDetails | undefined => {
  const { data } = detailsSchema.safeParse(parseJson(text));
  if (data === undefined) return undefined;
  const { CPU, Memory, Running, State } = data;
  return { state: stateOf(Running, State), cpu: CPU, memoryMb: Memory };
};
