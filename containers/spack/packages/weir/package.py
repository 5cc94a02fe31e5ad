# ruff: noqa: F403, F405
from spack.package import *


class Weir(Package):
    """Simulates the interconnects of high-performance computers and what congestion does to the applications that share them."""

    license("MIT OR Apache-2.0")

    # From a checkout: spack dev-build weir@0.1.0
    version("0.1.0")

    variant("mpi", default=True, description="Ranks over MPI; without it weir runs in one process")

    depends_on("rust@1.88:", type="build")
    depends_on("pkgconfig", type="build")
    # bindgen reads mpi.h and hdf5.h with libclang.
    depends_on("llvm+clang", type="build")
    depends_on("hdf5~mpi@1.10:")
    depends_on("mpi", when="+mpi")

    def setup_build_environment(self, env):
        env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)
        env.set("HDF5_DIR", self.spec["hdf5"].prefix)
        if "+mpi" in self.spec:
            env.set("MPICC", self.spec["mpi"].mpicc)

    def install(self, spec, prefix):
        options = ["--path", ".", "--locked", "--root", prefix]
        if "~mpi" in spec:
            options.extend(["--no-default-features", "--features", "figures"])
        which("cargo")("install", *options)
        mkdirp(prefix.share.man.man1)
        Executable(prefix.bin.weir)("man", prefix.share.man.man1)
