import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MacHost } from '@tartan/api';
import type { InformerEvent, Live } from '@tartan/kube';
import { hostWith } from '../claim/testing/hosts.ts';
import { createPoolPrefixes, poolPrefixesOf } from './pool-prefixes.ts';

const from = (name: string, poolPrefix: string): Live<MacHost> => hostWith(name, { spec: { poolPrefix } });

test('the pools follow each change of a MacHost, without a look at the others', () => {
  const listeners: ((change: InformerEvent<MacHost>) => void)[] = [];
  const prefixes = createPoolPrefixes(['allowed-']);
  prefixes.follow({
    subscribe: (listener) => {
      listeners.push(listener);
      return () => {};
    },
  });
  const tell = (change: InformerEvent<MacHost>) => listeners.forEach((listener) => listener(change));
  const steps: [InformerEvent<MacHost>, Live<MacHost>[]][] = [
    [{ type: 'added', object: from('1', 'a-') }, [from('1', 'a-')]],
    [{ type: 'added', object: from('2', 'a-') }, [from('1', 'a-'), from('2', 'a-')]],
    [{ type: 'changed', object: from('1', 'b-'), previous: from('1', 'a-') }, [from('1', 'b-'), from('2', 'a-')]],
    [{ type: 'removed', previous: from('2', 'a-') }, [from('1', 'b-')]],
    [{ type: 'changed', object: from('1', ''), previous: from('1', 'b-') }, [from('1', '')]],
  ];
  for (const [change, hosts] of steps) {
    tell(change);
    assert.deepEqual(prefixes.get(), poolPrefixesOf(['allowed-'], hosts));
    assert.equal(prefixes.get(), prefixes.get(), 'computed once per change');
  }
});
