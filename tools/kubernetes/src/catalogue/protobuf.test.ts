import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeMessages, readGoStructs, readProto } from './protobuf.ts';

const proto = `
syntax = "proto2";

package k8s.io.api.core.v1;

import "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto";

// Volume in a Pod.
message Volume {
  // name of the volume = 7
  optional string name = 1;

  optional VolumeSource volumeSource = 2;

  repeated int64 groups = 3;

  map<string, bytes> data = 4;

  optional .k8s.io.apimachinery.pkg.apis.meta.v1.Time at = 5;
}

message VolumeSource {
  optional int64 size = 12;
}

message Unreached {
  optional string name = 1;
}
`;

const source = `
package v1

// Volume in a Pod.
type Volume struct {
	// Name of the volume.
	Name string \`json:"name" protobuf:"bytes,1,opt,name=name"\`
	VolumeSource \`json:",inline" protobuf:"bytes,2,opt,name=volumeSource"\`
	Groups []int64 \`json:"theGroups,omitempty" protobuf:"varint,3,rep,name=groups"\`
	Data map[string][]byte \`json:"data,omitempty" protobuf:"bytes,4,rep,name=data"\`
	At *metav1.Time \`json:"at,omitempty,omitzero" protobuf:"bytes,5,opt,name=at"\`
}

type VolumeSource struct {
	Size *int64 \`json:"size,omitempty" patchStrategy:"x" protobuf:"varint,12,opt,name=size"\`
}
`;

const packageName = 'k8s.io.api.core.v1';

test('a description joins the types of the .proto file with the JSON names of the Go struct', () => {
  const described = describeMessages(
    [`${packageName}.Volume`],
    readProto(proto),
    new Map([[packageName, readGoStructs(source)]]),
  );
  assert.deepEqual(described, {
    [`${packageName}.Volume`]: {
      '1': ['name', 'string', ''],
      '2': ['', `${packageName}.VolumeSource`, 'i'],
      '3': ['theGroups', 'int64', 'ro'],
      '4': ['data', 'bytes', 'mo'],
      '5': ['at', 'k8s.io.apimachinery.pkg.apis.meta.v1.Time', 'po'],
    },
    [`${packageName}.VolumeSource`]: { '12': ['size', 'int64', 'po'] },
  });
});

test('an undeclared message or field is an error', () => {
  assert.throws(
    () => describeMessages([`${packageName}.Nope`], readProto(proto), new Map()),
    /no .proto file declares/,
  );
  assert.throws(
    () => describeMessages([`${packageName}.Volume`], readProto(proto), new Map()),
    /no Go struct has a field/,
  );
  assert.throws(() => readProto('message A {}'), /names no package/);
});
