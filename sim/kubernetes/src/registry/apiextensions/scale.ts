import { internalError } from '../../errors/api-error.ts';
import { type Cause, invalid } from '../../errors/field-errors.ts';
import { goType } from '../../go/fmt.ts';
import { copy, isObject, type KubeObject, set } from '../../object.ts';
import { ageColumn, ageOf, column, type Columns, nameColumn, nameOf } from '../../printers/columns.ts';
import type { View } from '../../resource.ts';
import type { Schema } from '../../schema/schema.ts';

/** `/scale` of a custom resource: an autoscaling/v1 Scale whose numbers are at configured paths of the object. */

const numberIn = (part: unknown): number =>
  isObject(part) && typeof part['replicas'] === 'number' ? part['replicas'] : 0;

export const scaleColumns: Columns = {
  definitions: [nameColumn, column('Desired', 'integer'), column('Available', 'integer'), ageColumn],
  cells: (scale, now) => [nameOf(scale), numberIn(scale['spec']), numberIn(scale['status']), ageOf(scale, now)],
};

export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

const largest = 2 ** 31 - 1;

const stepsOf = (path: string): string[] => path.replace(/^\./, '').split('.');

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

type Found = { value: unknown } | { problem: string };

const wrongType = (steps: readonly string[], value: unknown, expected: string): Found => ({
  problem: `.${steps.join('.')} accessor error: ${shown(value)} is of the type ${goType(value)}, expected ${expected}`,
});

const lookUp = (object: KubeObject, path: string, expected: 'int64' | 'string'): Found => {
  const steps = stepsOf(path);
  let current: unknown = object;
  for (const step of steps) {
    if (current === undefined || current === null) return { value: undefined };
    if (!isObject(current)) return wrongType(steps, current, 'map[string]interface{}');
    current = Object.hasOwn(current, step) ? current[step] : undefined;
  }
  if (current === undefined) return { value: undefined };
  const fits =
    expected === 'string' ? typeof current === 'string' : typeof current === 'number' && Number.isInteger(current);
  return fits ? { value: current } : wrongType(steps, current, expected);
};

const validateReplicas = (object: KubeObject, path: string): Cause[] => {
  const found = lookUp(object, path, 'int64');
  if ('problem' in found) return [invalid(path, 0, found.problem)];
  const replicas = Number(found.value ?? 0);
  if (replicas < 0) return [invalid(path, replicas, 'should be a non-negative integer')];
  return replicas > largest ? [invalid(path, replicas, `should be less than or equal to ${largest}`)] : [];
};

const validateSelector = (object: KubeObject, path: string | undefined): Cause[] => {
  const found = path ? lookUp(object, path, 'string') : { value: undefined };
  return path && 'problem' in found ? [invalid(path, '', found.problem)] : [];
};

export const validateScaleSpec = (object: KubeObject, paths: ScalePaths): Cause[] =>
  validateReplicas(object, paths.specReplicasPath);

export const validateScaleStatus = (object: KubeObject, paths: ScalePaths): Cause[] => [
  ...validateReplicas(object, paths.statusReplicasPath),
  ...validateSelector(object, paths.labelSelectorPath),
];

const read = (object: KubeObject, path: string, expected: 'int64' | 'string'): unknown => {
  const found = lookUp(object, path, expected);
  return 'problem' in found ? undefined : found.value;
};

/** Go omits zero. */
const scaleOf = (parent: KubeObject, paths: ScalePaths): KubeObject => {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const replicas = read(parent, paths.specReplicasPath, 'int64');
  if (replicas === undefined) throw internalError(`the spec replicas field "${paths.specReplicasPath}" does not exist`);
  const selector = paths.labelSelectorPath ? read(parent, paths.labelSelectorPath, 'string') : undefined;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace ? { namespace } : {}), uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: Number(read(parent, paths.statusReplicasPath, 'int64') ?? 0),
      ...(selector ? { selector } : {}),
    },
  };
};

const written = (object: KubeObject, path: string, replicas: number): KubeObject => {
  const result = copy(object);
  const steps = stepsOf(path);
  const last = steps.pop() ?? '';
  let current: Record<string, unknown> = result;
  for (const step of steps) {
    const next = Object.hasOwn(current, step) ? current[step] : undefined;
    const child: Record<string, unknown> = isObject(next) ? next : {};
    if (child !== next) set(current, step, child);
    current = child;
  }
  set(current, last, replicas);
  return result;
};

const replicasIn = (scale: KubeObject): number => {
  const { spec } = scale;
  const replicas = isObject(spec) ? spec['replicas'] : undefined;
  return typeof replicas === 'number' ? replicas : 0;
};

/** `validateParent` validates an update of the object itself. */
export const scaleView = (paths: ScalePaths, schema: Schema | undefined, validateParent: View['validate']): View => ({
  schema,
  read: (parent) => scaleOf(parent, paths),
  write: (parent, edited) => written(parent, paths.specReplicasPath, replicasIn(edited)),
  validate: validateParent,
});
