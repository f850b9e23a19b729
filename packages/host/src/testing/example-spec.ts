import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mac } from '@tartan/sim-mac';
import type { Artifact } from '../artifacts/artifact.ts';
import type { HostSpec } from '../host-spec.ts';
import { tinyTar } from './tiny-tar.ts';

/** A file in `folder` as an artifact. The same content is always the same artifact. */
export const exampleArtifact = (folder: string, name: string, content: string | Buffer): Artifact => {
  const sha256 = createHash('sha256').update(content).digest('hex');
  const file = join(folder, sha256);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, content);
  return { name, sha256, size: Buffer.byteLength(content), file };
};

const program = (name: string, version: string): string => `#!/bin/sh\n# ${name}\necho ${version}\n`;

/** A host with every feature on. Its software is a few bytes of shell each, kept in `folder`, which the caller removes. */
export const exampleSpec = (folder: string, overrides: Partial<HostSpec> = {}): HostSpec => ({
  user: 'm1',
  nodeName: 'mac-7.fleet_a',
  tart: exampleArtifact(
    folder,
    'tart 2.32.1',
    tinyTar({
      'tart.app/Contents/MacOS/tart': program('tart', '2.32.1'),
      'tart.app/Contents/Info.plist': '<plist/>\n',
    }),
  ),
  vmEgress: { allow: [{ cidr: '10.96.0.10/32', protocol: 'udp', ports: '53' }] },
  tailscale: {
    binaries: exampleArtifact(
      folder,
      'tailscale 1.96.5',
      tinyTar({ tailscale: program('tailscale', '1.96.5'), tailscaled: program('tailscaled', '1.96.5') }),
    ),
    tags: ['tag:mac'],
    acceptRoutes: true,
    authKeyVersion: 'key-1',
  },
  nodeExporter: exampleArtifact(folder, 'node_exporter 1.8.2', program('node_exporter', '1.8.2')),
  agent: {
    runtime: exampleArtifact(folder, 'node 26.10.0', program('node', 'v26.10.0')),
    release: exampleArtifact(folder, 'tart-kubelet 0.1.0', 'console.log("tart-kubelet 0.1.0");\n'),
    nodeLabels: { 'tuist.dev/fleet': 'fleet-a', 'tuist.dev/runtime': 'tart' },
    providerID: 'scw-applesilicon://fr-par-3/11111111-2222-3333-4444-555555555555',
    kubeletVersion: 'v1.36.3',
    hostCPU: 8,
    hostMemoryMB: 16_384,
    maxPods: 3,
    joinVersion: 'token-1',
  },
  ghActionsRunner: {
    org: 'example',
    labels: ['self-hosted', 'macos'],
    runner: exampleArtifact(
      folder,
      'actions-runner 2.330.0',
      tinyTar({ 'config.sh': program('config.sh', '2.330.0'), 'run.sh': program('run.sh', '2.330.0') }),
    ),
    packer: exampleArtifact(folder, 'packer 1.14.0', program('packer', '1.14.0')),
    crane: exampleArtifact(folder, 'crane 0.20.6', program('crane', '0.20.6')),
    oras: exampleArtifact(folder, 'oras 1.3.0', program('oras', '1.3.0')),
  },
  ...overrides,
});

/** Puts artifacts into the store as a push does. */
export const putInStore = (mac: Pick<Mac, 'path'>, ...artifacts: readonly Artifact[]): void => {
  const store = mac.path('/var/db/tartan/artifacts');
  mkdirSync(store, { recursive: true });
  for (const { file, sha256 } of artifacts) {
    copyFileSync(file, join(store, sha256));
    chmodSync(join(store, sha256), 0o644);
  }
};
