import { badRequest, type ApiError } from '../status/api-error.ts';
import type { Decoded } from './body.ts';
import { MalformedError, parseJson, type Parsed } from './json.ts';
import { parseYaml } from './yaml.ts';

export type PatchBody = 'json' | 'merge' | 'strategic' | 'apply';

const goKind = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

/** How the real server begins its complaint; only the strategic merge does without. */
const beginnings: Readonly<Record<PatchBody, string>> = {
  json: 'error decoding patch: ',
  merge: 'error decoding patch: ',
  strategic: '',
  apply: 'error decoding YAML: ',
};

/**
 * The body of a PATCH: a list of operations for `json`, an object for the others. `null` is an empty patch, except as a merge
 * patch. Whether the operations make sense is for whoever applies them to say.
 */
export const decodePatch = (bytes: Uint8Array, type: PatchBody): Decoded => {
  const refuse = (why: string): ApiError => badRequest(`${beginnings[type]}${why}`);
  let parsed: Parsed;
  try {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    parsed = type === 'apply' ? parseYaml(text) : parseJson(text);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    throw refuse(type === 'apply' ? `error converting YAML to JSON: ${error.message}` : error.message);
  }
  if (parsed.problem !== undefined) throw refuse(parsed.problem);
  if (parsed.value === null && type === 'merge') throw badRequest('Invalid JSON Patch');
  const value = parsed.value ?? (type === 'json' ? [] : {});
  if (typeof value !== 'object' || Array.isArray(value) !== (type === 'json')) {
    const wanted = type === 'json' ? '[]handlers.jsonPatchOp' : 'map[string]interface {}';
    const step = type === 'apply' ? 'error unmarshaling JSON: while decoding JSON: ' : '';
    throw refuse(`${step}json: cannot unmarshal ${goKind(value)} into Go value of type ${wanted}`);
  }
  return { value, duplicates: parsed.duplicates };
};
