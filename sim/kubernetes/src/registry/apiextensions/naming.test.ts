import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Definition, DefinitionNames } from './definition.ts';
import { establish } from './naming.ts';

const now = '2026-01-01T00:00:00Z';

const definition = (names: DefinitionNames, accepted?: DefinitionNames): Definition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${names.plural}.ex.io`, uid: 'u', resourceVersion: '1', creationTimestamp: now },
  spec: { group: 'ex.io', scope: 'Cluster', names, versions: [] },
  ...(accepted ? { status: { acceptedNames: accepted } } : {}),
});

const names = (more: Partial<DefinitionNames>): DefinitionNames => ({
  plural: 'as',
  singular: 'a',
  kind: 'A',
  listKind: 'AList',
  ...more,
});
const taken = names({ shortNames: ['x'] });

/** Names next to a definition that has `taken`. */
const table: [name: string, wanted: DefinitionNames, reason: string, message: string, accepted: DefinitionNames][] = [
  [
    'other names',
    names({ plural: 'bs', singular: 'b', kind: 'B', listKind: 'BList' }),
    'NoConflicts',
    'no conflicts found',
    { plural: 'bs', singular: 'b', kind: 'B', listKind: 'BList' },
  ],
  [
    'the same plural',
    names({ singular: 'b', kind: 'B', listKind: 'BList' }),
    'PluralConflict',
    '"as" is already in use',
    { plural: '', singular: 'b', kind: 'B', listKind: 'BList' },
  ],
  [
    'the same kind',
    names({ plural: 'bs', singular: 'b', listKind: 'BList' }),
    'KindConflict',
    '"A" is already in use',
    { plural: 'bs', singular: 'b', kind: '', listKind: 'BList' },
  ],
  [
    'the same short name',
    names({ plural: 'bs', singular: 'b', kind: 'B', listKind: 'BList', shortNames: ['x', 'y'] }),
    'ShortNamesConflict',
    '"x" is already in use',
    { plural: 'bs', singular: 'b', kind: 'B', listKind: 'BList' },
  ],
  [
    'a singular that is a short name elsewhere',
    names({ plural: 'bs', singular: 'x', kind: 'B', listKind: 'BList' }),
    'SingularConflict',
    '"x" is already in use',
    { plural: 'bs', kind: 'B', listKind: 'BList' },
  ],
];

describe('establish', () => {
  for (const [name, wanted, reason, message, accepted] of table) {
    it(`checks names in use: ${name}`, () => {
      const status = establish(definition(wanted), [definition(taken, taken)], now);
      assert.deepEqual(status.acceptedNames, accepted);
      const [namesAccepted, established] = status.conditions ?? [];
      assert.deepEqual([namesAccepted?.reason, namesAccepted?.message], [reason, message]);
      assert.equal(established?.status, reason === 'NoConflicts' ? 'True' : 'False');
    });
  }

  it('keeps the accepted names of a definition', () => {
    const own = definition({ ...taken, categories: ['all'] }, taken);
    const status = establish(own, [definition(names({ plural: 'cs' }), names({ plural: 'cs' }))], now);
    assert.deepEqual(status.acceptedNames, { ...taken, categories: ['all'] });
    assert.equal(status.conditions?.[0]?.status, 'True');
  });

  it('does nothing when all names are already accepted', () => {
    const own = definition(taken, taken);
    assert.equal(establish(own, [], now), own.status);
  });
});
