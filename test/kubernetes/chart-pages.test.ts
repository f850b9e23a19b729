import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { chart } from './chart/helm.ts';
import { ofKind, only, render } from './chart/render.ts';
import type { Values } from './chart/value-sets.ts';

/** The values that a page tells people to set. */
const valuesIn = async (page: string, key: string): Promise<Values> => {
  const text = await readFile(join(chart, '../../docs', page), 'utf8');
  const blocks = [...text.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  const found = blocks.map((block): unknown => parse(block)).find((values) => Object.hasOwn(Object(values), key));
  assert.ok(found, `${page} shows no values with ${key}`);
  return found as Values;
};

describe('what pages tell people to install', () => {
  test('the first fleet of install.md, under the names that the page uses', async () => {
    const objects = await render(await valuesIn('install.md', 'provider'));
    assert.equal(only(objects, 'Cluster').metadata.name, 'tartan-capi');
    assert.equal(only(objects, 'MacFleet').metadata.name, 'tartan-macos-fleet');
    assert.equal(only(objects, 'MachineDeployment')['spec'].replicas, 0);
    assert.equal(only(objects, 'Deployment')['spec'].template.spec.containers[0].image, 'REGISTRY/tartan:VERSION');
  });

  test('the builders of image-builder.md, with runners that name their environment', async () => {
    const objects = await render(await valuesIn('image-builder.md', 'buildersFleet'));
    const [template] = ofKind(objects, 'ScalewayAppleSiliconMachineTemplate');
    assert.deepEqual(template?.['spec'].template.spec.ghActionsRunner, {
      ghOrg: 'ORGANISATION',
      ghAppSecretName: 'builders-github-app',
      ghRunnerLabels: 'self-hosted,macos,vm-image-builder,production',
    });
  });
});
