import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import type { Cause } from '../../errors/field-errors.ts';
import recorded from './customresourcedefinitions.recorded.generated.json' with { type: 'json' };
import { copy, type KubeObject } from '../../object.ts';
import type { WriteContext } from '../../resource.ts';
import type { LoopbackClient } from '../../store/loopback-client.ts';
import { cleanupFinalizer, customResourceDefinitionStrategy as strategy } from './customresourcedefinitions.ts';

// Answers of kube-apiserver 1.36.3 to creates.

const cases = recorded as unknown as { name: string; crd: KubeObject; causes: Cause[] }[];

const contextWith = (existing: readonly KubeObject[] = []): WriteContext => {
  const api = { clock: manualClock(), find: () => ({}), list: () => existing } as unknown as LoopbackClient;
  return { api, user: { name: 'admin', groups: [], extra: {} }, dryRun: false };
};

const definition = (change: (spec: Record<string, unknown>) => void = () => {}): KubeObject => {
  const spec: Record<string, unknown> = {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing', shortNames: ['th'] },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  };
  change(spec);
  const metadata = { name: 'things.ex.io', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec };
};

const created = (object: KubeObject, existing: readonly KubeObject[] = []): KubeObject => {
  const result = copy(object);
  strategy.applyDefaults(result);
  strategy.prepareForCreate(result, contextWith(existing));
  return result;
};

const sorted = (causes: readonly Cause[]): string[] =>
  causes.map(({ field, reason, message }) => `${field} | ${reason} | ${message}`).sort();

/** The pipeline checks the name for all kinds. */
const ownName = ({ message, field }: Cause): boolean =>
  field !== 'metadata.name' || message.includes('spec.names.plural');

describe('customResourceDefinitionStrategy', () => {
  for (const { name, crd, causes } of cases) {
    it(`responds to a create as the real server: ${name}`, () => {
      const object = created(crd);
      assert.deepEqual(sorted(strategy.validate(object, undefined, contextWith())), sorted(causes.filter(ownName)));
    });
  }

  it('sets default names and conversion', () => {
    const { spec } = created(definition());
    assert.deepEqual(spec, {
      ...(definition()['spec'] as object),
      names: { plural: 'things', singular: 'thing', shortNames: ['th'], kind: 'Thing', listKind: 'ThingList' },
      conversion: { strategy: 'None' },
    });
  });

  it('accepts names and establishes the definition at once', () => {
    assert.deepEqual(created(definition())['status'], {
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'NoConflicts',
          message: 'no conflicts found',
        },
        {
          type: 'Established',
          status: 'True',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        },
      ],
      acceptedNames: { plural: 'things', singular: 'thing', shortNames: ['th'], kind: 'Thing', listKind: 'ThingList' },
      storedVersions: ['v1'],
    });
  });

  it('keeps every version that objects may be stored in', () => {
    const old = created(definition());
    const next = copy(old);
    Object.assign(next['spec'] as object, {
      versions: [
        { name: 'v1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
        { name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    });
    strategy.prepareForUpdate(next, old, contextWith());
    assert.deepEqual((next['status'] as { storedVersions: string[] }).storedVersions, ['v1', 'v2']);
    assert.deepEqual(strategy.validate(next, old, contextWith()), []);
  });

  it('refuses to remove a version that objects may be stored in', () => {
    const old = created(definition());
    const next = created(definition());
    Object.assign(next['spec'] as object, {
      versions: [{ name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    });
    next['status'] = copy(old['status']);
    strategy.prepareForUpdate(next, old, contextWith());
    assert.deepEqual(
      strategy.validate(next, old, contextWith()).map(({ field }) => field),
      ['status.storedVersions[0]'],
    );
  });

  it('refuses to change group, scope and names of stored objects', () => {
    const old = created(definition());
    const next = created(
      definition((spec) => {
        spec['scope'] = 'Cluster';
        spec['names'] = { plural: 'things', kind: 'Other' };
      }),
    );
    assert.deepEqual(
      strategy.validate(next, old, contextWith()).map(({ field, message }) => `${field}: ${message}`),
      [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Other": field is immutable',
      ],
    );
  });

  it('keeps a deleted definition with a finalizer and sets a condition', () => {
    const object = created(definition());
    assert.equal(strategy.blocksDeletion(object), true);
    object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    object.metadata.deletionGracePeriodSeconds = 0;
    object.metadata.generation = 2;
    strategy.beforeDelete(object, contextWith());
    assert.deepEqual(object.metadata.finalizers, [cleanupFinalizer]);
    assert.equal(object.metadata.generation, 1);
    assert.equal(object.metadata.deletionGracePeriodSeconds, undefined);
    const { conditions } = object['status'] as { conditions: { type: string; reason: string }[] };
    assert.deepEqual(
      conditions.map(({ type, reason }) => [type, reason]),
      [
        ['NamesAccepted', 'NoConflicts'],
        ['Established', 'InitialNamesAccepted'],
        ['Terminating', 'InstanceDeletionPending'],
      ],
    );
    object.metadata.finalizers = [];
    assert.equal(strategy.blocksDeletion(object), false);
  });
});
