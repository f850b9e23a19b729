import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deepFreeze, type KubeObject } from '../../object.ts';
import type { WriteContext } from '../../resource.ts';
import { scaleView } from './scale.ts';

const context = {} as unknown as WriteContext;
const view = scaleView(
  {
    specReplicasPath: '.spec.size.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
  undefined,
  () => [],
);

const metadata = {
  name: 't',
  namespace: 'default',
  uid: 'u',
  resourceVersion: '7',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const parent = (fields: object): KubeObject =>
  deepFreeze({ apiVersion: 'ex.io/v1', kind: 'Thing', metadata: { ...metadata, labels: { a: 'b' } }, ...fields });
const scale = (fields: object): KubeObject => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, ...fields });

describe('scaleView', () => {
  it('returns the replicas of its object', () => {
    assert.deepEqual(
      view.read(parent({ spec: { size: { replicas: 2 } }, status: { replicas: 1, selector: 'a=b' } })),
      scale({ spec: { replicas: 2 }, status: { replicas: 1, selector: 'a=b' } }),
    );
  });

  it('omits zero and an unknown selector, as Go does', () => {
    assert.deepEqual(
      view.read(parent({ spec: { size: { replicas: 0 } } })),
      scale({ spec: {}, status: { replicas: 0 } }),
    );
  });

  it('fails for an object without replicas', () => {
    assert.throws(() => view.read(parent({ spec: {} })), {
      code: 500,
      message: 'Internal error occurred: the spec replicas field ".spec.size.replicas" does not exist',
    });
  });

  it('writes only the replicas of its object', () => {
    const before = parent({ spec: { other: 1 } });
    assert.deepEqual(
      view.write(before, scale({ spec: { replicas: 5 }, status: { replicas: 9 } }), context),
      parent({ spec: { other: 1, size: { replicas: 5 } } }),
    );
  });

  it('writes zero when no replicas are given', () => {
    assert.deepEqual(view.write(parent({}), scale({ spec: {} }), context), parent({ spec: { size: { replicas: 0 } } }));
  });
});
