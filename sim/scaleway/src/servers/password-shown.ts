import type { ScalewayFaults } from '../scaleway.ts';

/** In place of a password that Scaleway does not tell (INC-207). */
const sealed = '<sealed>';

/** Scaleway says it only shortly after the order. */
const toldFor = 10 * 60_000;

export interface PasswordOccasion {
  readonly user: string;
  readonly password: string;
  /** Of VNC, `host:port`. */
  readonly address: string;
  /** Since the server was ordered, in Scaleway's own time. */
  readonly age: number;
  /** Answers to a write hold sealed values, as recorded; only reads tell. */
  readonly to: 'a read' | 'a write';
  readonly told: ScalewayFaults['password'];
}

/** What the two fields that can hold the password say. */
export const passwordShown = (occasion: PasswordOccasion): { sudo_password: string; vnc_url: string } => {
  const { user, password, address, told } = occasion;
  if (occasion.to === 'a write' || told === 'sealed') return { sudo_password: sealed, vnc_url: sealed };
  if (told === 'empty') return { sudo_password: '', vnc_url: `vnc://${user}:@${address}` };
  const isTold = told === 'told once' && occasion.age < toldFor;
  return {
    sudo_password: isTold ? password : '',
    vnc_url: `vnc://${user}:${encodeURIComponent(password)}@${address}`,
  };
};
