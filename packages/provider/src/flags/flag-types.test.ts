import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FlagType } from '@tartan/kube/flags';
import { hostNamePrefix, releaseID, tailscaleTag, zone } from './flag-table.ts';

const kinds: Record<string, FlagType<string>> = { hostNamePrefix, releaseID, tailscaleTag, zone };

const taken: [kind: string, text: string][] = [
  ['hostNamePrefix', 'tuist-pool-'],
  ['releaseID', '1f0c9a2e'],
  ['zone', 'fr-par-1'],
  ['tailscaleTag', 'tag:tuist-macmini-production'],
];

const refused: [kind: string, text: string, problem: RegExp][] = [
  ['hostNamePrefix', 'tuist-pool', /with a dash at the end/],
  ['hostNamePrefix', '-', /is no prefix/],
  ['hostNamePrefix', 'Tuist-', /is no prefix/],
  ['releaseID', '-a', /is no id of a release/],
  ['zone', 'fr-par', /is no zone/],
  ['zone', 'fr-par-1 ', /is no zone/],
  ['tailscaleTag', 'macmini', /begin with "tag:"/],
  ['tailscaleTag', 'tag:1', /begin with "tag:"/],
];

describe('the text of a flag about Macs', () => {
  for (const [kind, text] of taken) {
    test(`${kind} accepts ${JSON.stringify(text)}`, () => assert.deepEqual(kinds[kind]?.parse(text), { value: text }));
  }
  for (const [kind, text, problem] of refused) {
    test(`${kind} rejects ${JSON.stringify(text)}`, () => {
      const parsed = kinds[kind]?.parse(text);
      assert.match(parsed !== undefined && 'problem' in parsed ? parsed.problem : 'taken', problem);
    });
  }
});
