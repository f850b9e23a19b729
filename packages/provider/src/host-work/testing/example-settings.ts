import type { Artifact } from '@tartan/host';
import type { HostSettings } from '../host-settings.ts';

const artifact = (name: string): Artifact => ({
  name,
  sha256: Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64),
  size: 1,
  file: `/nowhere/${name}`,
});

/** A manager with every feature. Its artifacts are names only. */
export const exampleSettings: HostSettings & { tailscale: object; builder: object } = {
  agent: { runtime: artifact('node'), release: artifact('tart-kubelet'), hostCPU: 8, hostMemoryMB: 16_384, maxPods: 2 },
  tart: artifact('tart'),
  nodeExporter: artifact('node_exporter'),
  vmEgress: { allow: [] },
  tailscale: {
    binaries: artifact('tailscale'),
    authKeySecretName: 'tailscale',
    tags: ['tag:mac'],
    acceptRoutes: true,
  },
  builder: {
    runner: artifact('actions-runner'),
    packer: artifact('packer'),
    crane: artifact('crane'),
    oras: artifact('oras'),
  },
};
