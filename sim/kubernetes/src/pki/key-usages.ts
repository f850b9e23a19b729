import './reflect-metadata.ts';
import { ExtendedKeyUsageExtension, type Extension, KeyUsageFlags, KeyUsagesExtension } from '@peculiar/x509';

/** Usages of certificates.k8s.io, and their bit or object identifier in a certificate. */
const keyUsages: Readonly<Record<string, KeyUsageFlags>> = {
  signing: KeyUsageFlags.digitalSignature,
  'digital signature': KeyUsageFlags.digitalSignature,
  'content commitment': KeyUsageFlags.nonRepudiation,
  'key encipherment': KeyUsageFlags.keyEncipherment,
  'key agreement': KeyUsageFlags.keyAgreement,
  'data encipherment': KeyUsageFlags.dataEncipherment,
  'cert sign': KeyUsageFlags.keyCertSign,
  'crl sign': KeyUsageFlags.cRLSign,
  'encipher only': KeyUsageFlags.encipherOnly,
  'decipher only': KeyUsageFlags.decipherOnly,
};

const extendedKeyUsages: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

/** In alphabetical order, as in error texts. */
export const knownUsages: readonly string[] = [...Object.keys(keyUsages), ...Object.keys(extendedKeyUsages)].sort();

export const usageExtensions = (usages: readonly string[]): Extension[] => {
  const flags = usages.flatMap((usage) => keyUsages[usage] ?? []);
  const extended = [...new Set(usages.flatMap((usage) => extendedKeyUsages[usage] ?? []))];
  return [
    ...(flags.length === 0
      ? []
      : [
          new KeyUsagesExtension(
            flags.reduce((all, flag) => all | flag),
            true,
          ),
        ]),
    ...(extended.length === 0 ? [] : [new ExtendedKeyUsageExtension(extended)]),
  ];
};
