/** A stand-in for a Linux Node with its kubelet and container runtime: Pods are processes of this machine, in the file systems of images. */
export { canRunContainers, type Image } from './container/start-container.ts';
export { type LinuxNode, type LinuxNodeOptions, startLinuxNode } from './start-linux-node.ts';
