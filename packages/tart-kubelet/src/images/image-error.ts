/** Reasons that a kubelet has for these, as `kubectl get pods` shows them. */
export type ImageReason = 'InvalidImageName' | 'ErrImageNeverPull' | 'ErrImagePull';

/** An image cannot be had, for a cause that tart does not tell. The text is for people. */
export class ImageError extends Error {
  readonly reason: ImageReason;
  constructor(reason: ImageReason, message: string) {
    super(message);
    this.name = 'ImageError';
    this.reason = reason;
  }
}
