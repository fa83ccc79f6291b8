package image_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
)

// layer packs files as an engine would on COPY, but with no time in it.
func layer(t *testing.T, c *instructions.CopyCommand, from string) v1.Layer {
	t.Helper()
	uid, gid := 0, 0
	if c.Chown != "" {
		if _, err := fmt.Sscanf(c.Chown, "%d:%d", &uid, &gid); err != nil {
			t.Fatalf("COPY --chown=%s is not of numbers", c.Chown)
		}
	}
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	err := filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		header, err := tar.FileInfoHeader(info, "")
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		clean := tar.Header{
			Typeflag: header.Typeflag, Name: strings.TrimPrefix(path.Join(c.DestPath, filepath.ToSlash(below)), "/"),
			Mode: header.Mode, Size: header.Size, Uid: uid, Gid: gid, Format: tar.FormatPAX,
		}
		if err := archive.WriteHeader(&clean); err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	})
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	made, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// finalStage makes the image that the last stage of the Dockerfile describes, on an empty base. It knows the few
// instructions that stand there; another one fails, so that nothing is passed over.
func finalStage(t *testing.T, made build) v1.Image {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	if !strings.Contains(buildCommand(t, "/data"), "mkdir --mode=0700 /data") {
		t.Fatal("the build stage does not make /data for its owner only")
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	from := map[string]string{"/worker": made.worker, "/licenses": made.licences, "/data": data}
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	config := v1.Config{Labels: map[string]string{}, Volumes: map[string]struct{}{}, ExposedPorts: map[string]struct{}{}}
	for _, command := range stages(t)[1].Commands {
		switch c := command.(type) {
		case *instructions.ArgCommand:
		case *instructions.LabelCommand:
			for _, l := range c.Labels {
				config.Labels[l.Key] = strings.ReplaceAll(strings.Trim(l.Value, `"`), "${VERSION}", version)
			}
		case *instructions.CopyCommand:
			if len(c.SourcePaths) != 1 || from[c.SourcePaths[0]] == "" || c.From != "build" {
				t.Fatalf("COPY of something that the test does not know: %s", c)
			}
			var err error
			if image, err = mutate.AppendLayers(image, layer(t, c, from[c.SourcePaths[0]])); err != nil {
				t.Fatal(err)
			}
		case *instructions.UserCommand:
			config.User = c.User
		case *instructions.EnvCommand:
			for _, e := range c.Env {
				config.Env = append(config.Env, e.Key+"="+e.Value)
			}
		case *instructions.VolumeCommand:
			for _, v := range c.Volumes {
				config.Volumes[v] = struct{}{}
			}
		case *instructions.ExposeCommand:
			for _, p := range c.Ports {
				config.ExposedPorts[p+"/tcp"] = struct{}{}
			}
		case *instructions.EntrypointCommand:
			config.Entrypoint = c.CmdLine
		case *instructions.CmdCommand:
			config.Cmd = c.CmdLine
		default:
			t.Fatalf("the final stage has an instruction that the test does not know: %T", c)
		}
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.Config, file.OS, file.Architecture = config, "linux", runtime.GOARCH
	if image, err = mutate.ConfigFile(image, file); err != nil {
		t.Fatal(err)
	}
	return image
}
