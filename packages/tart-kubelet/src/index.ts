/** The agent on every Mac: its Node, its identity, and what `kubectl` asks of a kubelet. */

// What it is told when it starts.
export * from './flags/index.ts';
export * from './release/index.ts';

// Who it is, and its Node.
export * from './identity/index.ts';
export * from './node/index.ts';

// What is asked of a kubelet.
export * from './api/pod-runtime.ts';
export { createKubeletApi, type KubeletApi, type KubeletApiOptions } from './api/server.ts';
