import { ageColumn, ageOf, column, type Columns, nameColumn, nameOf, wide } from '../columns.ts';
import { isObject } from '../../object.ts';
import { printLabelSelector } from '../../selectors/label-requirement.ts';
import { type LabelSelector, requirementsOf } from '../../selectors/labels.ts';
import { at, count, fields, list, or, text } from '../fields.ts';

const containers = (object: unknown): [string, string] => {
  const found = list(object, 'spec', 'template', 'spec', 'containers');
  const joined = (field: string): string => found.map((container) => text(container, field)).join(',');
  return [joined('name'), joined('image')];
};

/** `a=1,b=2`, sorted. */
const pairs = (map: Record<string, unknown>): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${text(map, key)}`)
    .join(',');

/** As validation has let it through: a selector, or nothing. */
const isSelector = (value: unknown): value is LabelSelector => isObject(value);

const selector = (object: unknown): string => {
  const found = at(object, 'spec', 'selector');
  return isSelector(found) ? printLabelSelector(requirementsOf(found)) : '';
};

const wideColumns = [wide('Containers'), wide('Images'), wide('Selector')];

export const deployments: Columns = {
  definitions: [nameColumn, column('Ready'), column('Up-to-date'), column('Available'), ageColumn, ...wideColumns],
  cells: (object, now) => [
    nameOf(object),
    `${count(object, 'status', 'readyReplicas')}/${count(object, 'spec', 'replicas')}`,
    count(object, 'status', 'updatedReplicas'),
    count(object, 'status', 'availableReplicas'),
    ageOf(object, now),
    ...containers(object),
    selector(object),
  ],
};

export const replicaSets: Columns = {
  definitions: [
    nameColumn,
    column('Desired', 'integer'),
    column('Current', 'integer'),
    column('Ready', 'integer'),
    ageColumn,
    ...wideColumns,
  ],
  cells: (object, now) => [
    nameOf(object),
    count(object, 'spec', 'replicas'),
    count(object, 'status', 'replicas'),
    count(object, 'status', 'readyReplicas'),
    ageOf(object, now),
    ...containers(object),
    or(selector(object), '<none>'),
  ],
};

export const daemonSets: Columns = {
  definitions: [
    nameColumn,
    column('Desired', 'integer'),
    column('Current', 'integer'),
    column('Ready', 'integer'),
    column('Up-to-date', 'integer'),
    column('Available', 'integer'),
    column('Node Selector'),
    ageColumn,
    ...wideColumns,
  ],
  cells: (object, now) => [
    nameOf(object),
    count(object, 'status', 'desiredNumberScheduled'),
    count(object, 'status', 'currentNumberScheduled'),
    count(object, 'status', 'numberReady'),
    count(object, 'status', 'updatedNumberScheduled'),
    count(object, 'status', 'numberAvailable'),
    or(pairs(fields(object, 'spec', 'template', 'spec', 'nodeSelector')), '<none>'),
    ageOf(object, now),
    ...containers(object),
    or(selector(object), '<none>'),
  ],
};
