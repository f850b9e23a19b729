import { shaped } from '@tartan/kube/flags';

/** As a label has it, so that it can be one. */
export const releaseID = shaped({
  placeholder: 'id',
  example: '1f0c9a2e',
  pattern: /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
  longest: 63,
  otherwise: 'is no id of a release (letters, digits, dashes, underscores and dots)',
});

/** The dash at the end keeps `tuist-pool-` from matching a host named `tuist-pooling`. */
export const hostNamePrefix = shaped({
  placeholder: 'prefix',
  example: 'tuist-pool-',
  pattern: /^[a-z0-9][-a-z0-9]*-$/,
  longest: 63,
  otherwise: 'is no prefix of host names: lower-case letters, digits and dashes, with a dash at the end',
});

export const zone = shaped({
  placeholder: 'zone',
  example: 'fr-par-1',
  pattern: /^[a-z]{2}-[a-z]{3}-\d{1,2}$/,
  otherwise: 'is no zone of Scaleway',
});

export const tailscaleTag = shaped({
  placeholder: 'tag',
  example: 'tag:tuist-macmini',
  pattern: /^tag:[A-Za-z][-A-Za-z0-9]*$/,
  otherwise: 'is no tag: those begin with "tag:" and a letter',
});
