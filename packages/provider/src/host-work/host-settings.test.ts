import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseFlags } from '../flags/parse-flags.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import { HostSettingsError, loadHostSettings } from './host-settings.ts';

describe('host settings', () => {
  let folder: string;
  const names = ['node', 'agent', 'tart', 'exporter', 'runner', 'packer', 'crane', 'oras', 'tailscale'] as const;
  const path = (name: (typeof names)[number]): string => join(folder, name);

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-settings-'));
    for (const name of names) writeFileSync(path(name), `content of ${name}`);
  });
  after(() => rmSync(folder, { recursive: true }));

  const optionsOf = (more: readonly string[] = []): ProviderOptions => {
    const parsed = parseFlags(
      [
        `--agent-runtime-path=${path('node')}`,
        `--agent-release-path=${path('agent')}`,
        `--tart-tarball-path=${path('tart')}`,
        ...more,
      ],
      {},
    );
    assert.ok('options' in parsed, JSON.stringify(parsed));
    return parsed.options;
  };
  const everything = (): string[] => [
    `--node-exporter-binary-path=${path('exporter')}`,
    `--actions-runner-tarball-path=${path('runner')}`,
    `--packer-binary-path=${path('packer')}`,
    `--crane-binary-path=${path('crane')}`,
    `--oras-binary-path=${path('oras')}`,
    `--tailscale-binaries-path=${path('tailscale')}`,
    '--tailscale-auth-key-secret-name=tailnet',
    '--tailscale-tags=tag:mac',
  ];
  const problemsOf = async (options: ProviderOptions): Promise<string[]> => {
    const error: unknown = await loadHostSettings(options).catch((problem: unknown) => problem);
    assert.ok(error instanceof HostSettingsError, String(error));
    return error.message.split('\n');
  };

  test('are read from the files that flags name, and hashed by content', async () => {
    const { agent, tart, nodeExporter, builder, tailscale, vmEgress } = await loadHostSettings(optionsOf(everything()));
    const artifacts = [
      agent.runtime,
      agent.release,
      tart,
      nodeExporter,
      ...Object.values(builder ?? {}),
      tailscale?.binaries,
    ];
    assert.deepEqual(
      artifacts.map((artifact) => [artifact?.file, artifact?.sha256]),
      names.map((name) => [path(name), createHash('sha256').update(`content of ${name}`).digest('hex')]),
    );
    assert.deepEqual([agent.hostCPU, agent.maxPods, vmEgress], [8, 2, { allow: [] }]);
    assert.deepEqual([tailscale?.authKeySecretName, tailscale?.tags], ['tailnet', ['tag:mac']]);
  });

  test('contain nothing that no flag names', async () => {
    const { nodeExporter, builder, tailscale } = await loadHostSettings(optionsOf());
    assert.deepEqual([nodeExporter, builder, tailscale], [undefined, undefined, undefined]);
  });

  test('report all unusable files at once, each with its flag', async () => {
    const missing = join(folder, 'not there');
    mkdirSync(join(folder, 'a folder'), { recursive: true });
    writeFileSync(join(folder, 'empty'), '');
    const problems = await problemsOf({
      ...optionsOf(),
      artifacts: {
        ...optionsOf().artifacts,
        tart: missing,
        agentRelease: join(folder, 'a folder'),
        nodeExporter: join(folder, 'empty'),
      },
    });
    assert.equal(problems.length, 3);
    const text = problems.join('\n');
    assert.match(text, /not there cannot be used, as there is no such file\. .*--tart-tarball-path/);
    assert.match(text, /a folder cannot be used, as it is a folder\. .*--agent-release-path/);
    assert.match(text, /empty cannot be used, as it is empty\. .*--node-exporter-binary-path/);
  });
});
