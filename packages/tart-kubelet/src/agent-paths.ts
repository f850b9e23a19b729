import { dirname, join } from 'node:path';

/** Where the agent keeps what must outlive it. `packages/host` makes these folders its own to write. */
export interface AgentPaths {
  /** One file for each Pod. */
  readonly journal: string;
  /** What became of the starts of virtual machines since the Mac booted. */
  readonly starts: string;
  /** One file for each golden base and image that the agent made. */
  readonly images: string;
  /** A folder for each virtual machine: what its guest is given, and what it says. */
  readonly guests: string;
  readonly logs: string;
  /** Of the kubelet API, with its key. */
  readonly servingCertificate: string;
}

/** `root` comes before every path of the Mac: nothing but on a simulated one. */
export const agentPaths = (root: string, kubeconfig: string): AgentPaths => ({
  journal: `${root}/var/lib/tart-kubelet/journal`,
  starts: `${root}/var/lib/tart-kubelet/vm-starts.json`,
  images: `${root}/var/lib/tart-kubelet/images`,
  guests: `${root}/var/lib/tart-userdata`,
  logs: `${root}/var/log/tart-vms`,
  servingCertificate: `${root}${join(dirname(kubeconfig), 'serving-certificate.pem')}`,
});
