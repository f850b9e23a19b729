/** What an image holds besides its base: the Dockerfile copies exactly these, and `assembleImage` does the same without a daemon. */

/** Software for Macs that we do not make: `image/artifacts.lock` says where each comes from. */
export type ArtifactName =
  | 'node'
  | 'tart'
  | 'tailscale'
  | 'node_exporter'
  | 'actions-runner'
  | 'packer'
  | 'crane'
  | 'oras';

export type ImageFile = {
  /** In the image. The manager's flags have these as their defaults, or the chart sets them. */
  readonly path: string;
} & (
  | {
      /** What it is made from: our own programs as `npm run build` leaves them in `dist/`, or the node that runs them. */
      readonly from: 'manager' | 'runners.mjs' | 'tart-kubelet.mjs' | 'node';
    }
  | { readonly artifact: ArtifactName }
);

export const imageFiles: readonly ImageFile[] = [
  { path: '/usr/local/bin/node', from: 'node' },
  // A folder: the manager, the installer of custom resource definitions, what looks before a release goes, and what they read.
  { path: '/opt/tartan', from: 'manager' },
  { path: '/opt/tartan/runners.mjs', from: 'runners.mjs' },
  { path: '/opt/tart-kubelet/tart-kubelet.mjs', from: 'tart-kubelet.mjs' },
  { path: '/opt/tart-kubelet/node', artifact: 'node' },
  { path: '/opt/tart/tart.tar.gz', artifact: 'tart' },
  { path: '/opt/tailscale/tailscale.tar.gz', artifact: 'tailscale' },
  { path: '/opt/node_exporter/node_exporter', artifact: 'node_exporter' },
  { path: '/opt/actions-runner/actions-runner.tar.gz', artifact: 'actions-runner' },
  { path: '/opt/packer/packer', artifact: 'packer' },
  { path: '/opt/crane/crane', artifact: 'crane' },
  { path: '/opt/oras/oras', artifact: 'oras' },
];

/** Nobody: the user whom the image runs as, and its group. */
export const imageUser = 65_532;
