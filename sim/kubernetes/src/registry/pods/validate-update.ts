import { type Cause, forbidden, invalid, required } from '../../errors/field-errors.ts';
import { copy, equal, isObject, type Json, type KubeObject } from '../../object.ts';
import { type Fields, fieldsOf, listOf, objectsOf, textOf, textsOf } from '../../unstructured.ts';
import { inRange } from '../validation/names.ts';
import { maxInt32, validateTolerationUpdate } from './validate-spec.ts';

/** Changed fields, one line for the old and one for the new value. */
const lines = (before: unknown, after: unknown, path: string): string[] => {
  if (equal(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => lines(before[key], after[key], path === '' ? key : `${path}.${key}`));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => lines(item, after[index], `${path}[${index}]`));
  }
  const line = (sign: string, value: unknown): string[] =>
    value === undefined ? [] : [`${sign} ${JSON.stringify(path)}: ${JSON.stringify(value)},`];
  return [...line('-', before), ...line('+', after)];
};

/** The changes of a spec. The real server prints its internal type here; no client may rely on the format. */
const specDifference = (before: unknown, after: unknown): string =>
  lines(before, after, '')
    .map((line) => `${line}\n`)
    .join('');

const mayChange = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

const validateImages = (containers: readonly Fields[], path: string): Cause[] =>
  containers.flatMap((container, index) => {
    const image = textOf(container['image']);
    const field = `${path}[${index}].image`;
    return [
      ...(image === '' ? [required(field)] : []),
      ...(image === image.trim() ? [] : [invalid(field, image, 'must not have leading or trailing whitespace')]),
    ];
  });

const validateDeadline = (now: unknown, before: unknown): Cause[] => {
  const field = 'spec.activeDeadlineSeconds';
  if (typeof now !== 'number') {
    return typeof before === 'number'
      ? [invalid(field, null, 'must not update from a positive integer to nil value')]
      : [];
  }
  const problems = inRange(now, 0, maxInt32).map((text) => invalid(field, now, text));
  if (problems.length > 0) return problems;
  return typeof before === 'number' && before < now
    ? [invalid(field, now, 'must be less than or equal to previous value')]
    : [];
};

const validateGates = (now: unknown, before: unknown): Cause[] => {
  const known = objectsOf(before).map((gate) => textOf(gate['name']));
  return objectsOf(now).flatMap((gate, index) => {
    const name = textOf(gate['name']);
    return known.includes(name)
      ? []
      : [
          forbidden(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ];
  });
};

const restore = (spec: Fields, before: Fields, key: string): void => {
  if (before[key] === undefined) delete spec[key];
  else spec[key] = before[key];
};

/** While a Pod has scheduling gates, its node selector may only become narrower. */
const validateSelector = (spec: Fields, before: Fields): Cause[] => {
  const [now, old] = [textsOf(spec['nodeSelector']), textsOf(before['nodeSelector'])];
  const kept = Object.entries(old).every(([key, value]) => now[key] === value);
  const shown: Json = now;
  return kept
    ? []
    : [
        invalid(
          'spec.nodeSelector',
          shown,
          'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
        ),
      ];
};

/** The new spec with all mutable fields reset: any remaining difference is forbidden. */
const withoutAllowed = (spec: Fields, before: Fields): Fields => {
  const munged = copy(spec);
  for (const list of ['containers', 'initContainers']) {
    for (const [index, container] of objectsOf(munged[list]).entries()) {
      restore(container, objectsOf(before[list])[index] ?? {}, 'image');
    }
  }
  for (const key of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) restore(munged, before, key);
  const grace = before['terminationGracePeriodSeconds'];
  if (typeof grace === 'number' && grace < 0 && munged['terminationGracePeriodSeconds'] === 1) {
    munged['terminationGracePeriodSeconds'] = grace;
  }
  if (listOf(before['schedulingGates']).length > 0) restore(munged, before, 'nodeSelector');
  return munged;
};

/** Almost all of a Pod's spec is immutable. */
export const validateSpecUpdate = (pod: KubeObject, old: KubeObject): Cause[] => {
  const spec = fieldsOf(pod['spec']);
  const before = fieldsOf(old['spec']);
  const causes: Cause[] = [];
  for (const list of ['containers', 'initContainers']) {
    const now = objectsOf(spec[list]);
    if (now.length !== listOf(before[list]).length) {
      return [...causes, forbidden(`spec.${list}`, 'pod updates may not add or remove containers')];
    }
    causes.push(...validateImages(now, `spec.${list}`));
  }
  const deadline = validateDeadline(spec['activeDeadlineSeconds'], before['activeDeadlineSeconds']);
  causes.push(...deadline);
  if (deadline.length > 0 && typeof spec['activeDeadlineSeconds'] === 'number') return causes;
  causes.push(
    ...validateTolerationUpdate(spec['tolerations'], before['tolerations'], 'spec.tolerations'),
    ...validateGates(spec['schedulingGates'], before['schedulingGates']),
  );
  if (listOf(before['schedulingGates']).length > 0) causes.push(...validateSelector(spec, before));
  const munged = withoutAllowed(spec, before);
  if (!equal(munged, before)) {
    causes.push(
      forbidden('spec', `pod updates may not change fields other than ${mayChange}\n${specDifference(before, munged)}`),
    );
  }
  return causes;
};
